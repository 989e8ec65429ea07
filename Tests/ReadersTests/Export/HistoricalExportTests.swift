import JSON
import Messaging
import MessagingStore
import Testing

@testable import Readers

@Suite struct `A historical export` {
    @Test func `holds all conversations and messages in 1_0 bodies (5_12)`() async throws {
        let depot = try await SampleApplication()
        let one = try await depot.conversation(metadata: ["topic": "keys"])
        let two = try await depot.conversation(["cy"])
        let gone = try await depot.conversation()
        try await depot.send(Array("under the mat".utf8), to: one)
        try await depot.send([0xFF, 0], "image/png", to: two)
        try await depot.send(Array("never mind".utf8), to: gone)
        try await depot.store.deleteConversation(gone, in: depot.application)

        let export = try await depot.store.requestExport(in: depot.application)
        #expect(export.status == .pending)
        try await depot.exporter.work()
        #expect(depot.reported == [])
        let done = try await depot.store.export(export.id, in: depot.application)
        #expect(done.status == .completed)

        let content = try await depot.content(of: export.id)
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
        let depot = try await SampleApplication()
        let export = try await depot.store.requestExport(in: depot.application)
        try await depot.exporter.work()
        #expect(
            try await depot.content(of: export.id).description
                == #"{"conversations":[],"messages":[]}"#)
    }

    @Test func `is refused without a key, and twice within a day (5_12)`() async throws {
        let depot = try await SampleApplication()
        let bare = try await depot.store.createApplication(name: "Bare").id
        await #expect(throws: Rejection.invalidOperation(.noExportKey)) {
            try await depot.store.requestExport(in: bare)
        }
        let first = try await depot.store.requestExport(in: depot.application)
        try await depot.store.deleteExport(first.id, in: depot.application)
        await #expect(throws: Rejection.invalidOperation(.recentExport)) {
            try await depot.store.requestExport(in: depot.application)
        }
        depot.advanceOneDay()
        let second = try await depot.store.requestExport(in: depot.application)
        #expect(second.id != first.id)
    }

    @Test func `of 10,000 messages holds each exactly once`() async throws {
        let depot = try await SampleApplication()
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 2000)
        let conversations = try await [
            depot.conversation(), depot.conversation(), depot.conversation(),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10_050 {
                if number >= 64 { try await group.next() }
                group.addTask {
                    try await depot.send(body, to: conversations[number % 3])
                }
            }
            try await group.waitForAll()
        }
        let export = try await depot.store.requestExport(in: depot.application)
        try await depot.exporter.work()
        let content = try await depot.content(of: export.id)
        let messages = try #require(content["messages"])
        #expect(messages.count == 10_050)
        #expect(Set(messages.elements.compactMap { $0["id"]?.string }).count == 10_050)
    }
}
