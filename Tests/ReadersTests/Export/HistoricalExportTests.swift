import JSON
import Messaging
import MessagingStore
import Testing

@testable import Readers

@Suite struct `A historical export` {
    @Test func `contains all conversations and messages in 1_0 bodies (5_12)`() async throws {
        let sample = try await SampleApplication()
        let one = try await sample.conversation(metadata: ["topic": "keys"])
        let two = try await sample.conversation(["cy"])
        let gone = try await sample.conversation()
        try await sample.send(Array("under the mat".utf8), to: one)
        try await sample.send([0xFF, 0], "image/png", to: two)
        try await sample.send(Array("never mind".utf8), to: gone)
        try await sample.store.deleteConversation(gone, in: sample.application)

        let export = try await sample.store.requestExport(in: sample.application)
        #expect(export.status == .pending)
        try await sample.exporter.work()
        #expect(sample.reported == [])
        let done = try await sample.store.export(export.id, in: sample.application)
        #expect(done.status == .completed)

        let content = try await sample.content(of: export.id)
        #expect(content.members.map(\.key) == ["conversations", "messages"])
        let conversations = try #require(content["conversations"])
        #expect(
            Set(conversations.elements.compactMap { $0["id"]?.string })
                == ["layer:///conversations/\(one.uuid)", "layer:///conversations/\(two.uuid)"])
        let kept = try #require(
            conversations.elements.first { $0["metadata"]?["topic"]?.string == "keys" })
        #expect(kept["participants"]?.description == #"["ana","bo"]"#)
        let messages = try #require(content["messages"])
        #expect(messages.count == 2)
        let bodies = messages.elements.compactMap { $0["parts"]?.elements.map(\.description).first }
        #expect(bodies.contains { $0.contains(#""body":"under the mat""#) })
        #expect(bodies.contains { $0.contains(#""body":"/wA=","encoding":"base64""#) })
        #expect(messages.elements.allSatisfy { $0["sender"]?["name"]?.string == "Billing" })
    }

    @Test func `of an empty application has two empty lists`() async throws {
        let sample = try await SampleApplication()
        let export = try await sample.store.requestExport(in: sample.application)
        try await sample.exporter.work()
        #expect(
            try await sample.content(of: export.id).description
                == #"{"conversations":[],"messages":[]}"#)
    }

    @Test func `is rejected without a key, and twice within a day (5_12)`() async throws {
        let sample = try await SampleApplication()
        let bare = try await sample.store.createApplication(name: "Bare").id
        await #expect(throws: Rejection.invalidOperation(.noExportKey)) {
            try await sample.store.requestExport(in: bare)
        }
        let first = try await sample.store.requestExport(in: sample.application)
        try await sample.store.deleteExport(first.id, in: sample.application)
        await #expect(throws: Rejection.invalidOperation(.recentExport)) {
            try await sample.store.requestExport(in: sample.application)
        }
        sample.advanceOneDay()
        let second = try await sample.store.requestExport(in: sample.application)
        #expect(second.id != first.id)
    }

    @Test func `of 10,000 messages contains each exactly once`() async throws {
        let sample = try await SampleApplication()
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 2000)
        let conversations = try await [
            sample.conversation(), sample.conversation(), sample.conversation(),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10_050 {
                if number >= 64 { try await group.next() }
                group.addTask {
                    try await sample.send(body, to: conversations[number % 3])
                }
            }
            try await group.waitForAll()
        }
        let export = try await sample.store.requestExport(in: sample.application)
        try await sample.exporter.work()
        let content = try await sample.content(of: export.id)
        let messages = try #require(content["messages"])
        #expect(messages.count == 10_050)
        #expect(Set(messages.elements.compactMap { $0["id"]?.string }).count == 10_050)
    }
}
