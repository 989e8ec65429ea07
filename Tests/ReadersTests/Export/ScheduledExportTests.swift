import JSON
import Messaging
import MessagingStore
import Testing

@testable import Readers

@Suite struct `A scheduled export` {
    @Test func `contains each topic as a 1_0 webhook would (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        try await sample.schedule(WebhookTopic.allCases)
        let (store, application) = (sample.store, sample.application)
        let conversation = try await sample.conversation(metadata: ["b": "1", "10": "2", "2": "3"])
        let first = try await sample.send(Array("one".utf8), to: conversation)
        let second = try await sample.send(Array("two".utf8), to: conversation)
        let (ana, bo) = try (#require(UserID("ana")), #require(UserID("bo")))
        try await store.recordReceipts(
            .delivery, of: IntervalSet(1...1), by: ana, in: conversation, in: application)
        try await store.recordReceipts(
            .read, of: IntervalSet(1...2), by: bo, in: conversation, in: application)
        try await store.deleteMessage(second, in: nil, in: application)
        _ = try await store.patchConversation(
            conversation, [.removeParticipant(ana), .setMetadata(path: ["a"], "b")], in: application
        )
        try await store.deleteConversation(conversation, in: application)

        let events = try await sample.nextEvents()
        #expect(
            events.map(\.type).sorted() == [
                "conversation.created", "conversation.deleted",
                "conversation.updated.metadata", "conversation.updated.participants",
                "message.deleted", "message.delivered", "message.read", "message.read",
                "message.sent", "message.sent",
            ])
        let sent = try #require(events.first { $0.type == "message.sent" })
        #expect(sent.json["event"]?["actor"]?.description == #"{"name":"Billing"}"#)
        #expect(sent.json["message"]?["id"]?.string == "layer:///messages/\(first.uuid)")
        #expect(
            sent.json["message"]?["parts"]?.description
                == """
                [{"id":"layer:///messages/\(first.uuid)/parts/0","mime_type":"text/plain",\
                "body":"one"}]
                """)
        let read = try #require(events.first { $0.type == "message.read" })
        #expect(read.json["event"]?["actor"]?.description == #"{"user_id":"bo"}"#)
        // Members that are array indices are first, as in JSON.stringify (webhooks 3.2).
        let created = try #require(events.first { $0.type == "conversation.created" })
        #expect(
            created.json["conversation"]?["metadata"]?.members.map(\.key) == ["2", "10", "b"])
    }

    @Test func `contains one event per message of a long receipt (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for number in 0..<70 { try await sample.send(Array("\(number)".utf8), to: conversation) }
        try await sample.schedule([.messageRead])
        let bo = try #require(UserID("bo"))
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...70), by: bo, in: conversation, in: sample.application)
        let events = try await sample.nextEvents()
        #expect(events.count == 70)
        #expect(Set(events.map(\.id)).count == 70)
    }

    @Test func `begins where the last one ended, and contains only its topics`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.send(Array("before".utf8), to: conversation)
        try await sample.schedule([.messageSent])
        try await sample.send(Array("one".utf8), to: conversation)
        #expect(try await sample.nextEvents().map(\.body) == ["one"])
        _ = try await sample.conversation()
        try await sample.send(Array("two".utf8), to: conversation)
        #expect(try await sample.nextEvents().map(\.body) == ["two"])
        #expect(try await sample.nextEvents().isEmpty)
    }

    @Test func `is made once a day, and only once after days without a server (5_12)`() async throws
    {
        let sample = try await SampleApplication()
        try await sample.schedule([.messageSent])
        try await sample.exporter.work()
        #expect(try await sample.count() == 0)
        sample.wait(milliseconds: 3 * 86_400_000 + 5)
        try await sample.exporter.work()
        try await sample.exporter.work()
        #expect(try await sample.count() == 1)
        let schedule = try await sample.store.exportSchedule(in: sample.application)
        #expect(schedule.nextAt == Timestamp(milliseconds: 1_772_356_530_042 + 4 * 86_400_000))
        #expect(schedule.last != nil)
        sample.advanceOneDay()
        try await sample.exporter.work()
        #expect(try await sample.count() == 2)
        try await sample.schedule([], .disabled)
        sample.advanceOneDay()
        try await sample.exporter.work()
        #expect(try await sample.count() == 2)
    }

    @Test func `requires a key`() async throws {
        let sample = try await SampleApplication()
        let bare = try await sample.store.createApplication(name: "Bare").id
        await #expect(throws: Rejection.invalidOperation(.noExportKey)) {
            try await sample.store.setExportSchedule(.daily, [.messageSent], in: bare)
        }
        _ = try await sample.store.setExportSchedule(.disabled, [], in: bare)
    }
}

private struct ExportedEvent {
    let json: JSONValue
    var type: String { json["event"]?["type"]?.string ?? "" }
    var id: String { json["event"]?["id"]?.string ?? "" }
    var body: String {
        json["message"]?["parts"]?.elements.map { $0["body"]?.string ?? "" }.first ?? ""
    }
}

extension SampleApplication {
    fileprivate func schedule(
        _ topics: [WebhookTopic], _ interval: ExportSchedule.Interval = .daily
    ) async throws {
        _ = try await store.setExportSchedule(interval, topics, in: application)
    }

    fileprivate func count() async throws -> Int64? {
        try await store.exports(limit: 1, in: application).total
    }

    /// The events of tomorrow's export.
    fileprivate func nextEvents() async throws -> [ExportedEvent] {
        advanceOneDay()
        try await exporter.work()
        #expect(reported == [])
        let last = try await store.exportSchedule(in: application).last
        let content = try await content(of: try #require(last))
        return try #require(content["events"]).elements.map(ExportedEvent.init)
    }
}
