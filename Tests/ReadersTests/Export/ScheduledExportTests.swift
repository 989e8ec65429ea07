import JSON
import Messaging
import MessagingStore
import Testing

@testable import Readers

@Suite struct `A scheduled export` {
    @Test func `holds each topic as a 1_0 webhook would (webhooks 4_2)`() async throws {
        let depot = try await SampleApplication()
        try await depot.schedule(WebhookTopic.allCases)
        let (store, application) = (depot.store, depot.application)
        let talk = try await depot.conversation(metadata: ["b": "1", "10": "2", "2": "3"])
        let first = try await depot.send(Array("one".utf8), to: talk)
        let second = try await depot.send(Array("two".utf8), to: talk)
        let (ana, bo) = try (#require(UserID("ana")), #require(UserID("bo")))
        try await store.recordReceipts(
            .delivery, of: IntervalSet(1...1), by: ana, in: talk, in: application)
        try await store.recordReceipts(
            .read, of: IntervalSet(1...2), by: bo, in: talk, in: application)
        try await store.deleteMessage(second, in: nil, in: application)
        _ = try await store.patchConversation(
            talk, [.removeParticipant(ana), .setMetadata(path: ["a"], "b")], in: application)
        try await store.deleteConversation(talk, in: application)

        let events = try await depot.nextEvents()
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
        // Members that are array indices come first, as JSON.stringify has them (webhooks 3.2).
        let created = try #require(events.first { $0.type == "conversation.created" })
        #expect(
            created.json["conversation"]?["metadata"]?.members.map(\.key) == ["2", "10", "b"])
    }

    @Test func `holds a long receipt message by message (webhooks 4_2)`() async throws {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        for number in 0..<70 { try await depot.send(Array("\(number)".utf8), to: talk) }
        try await depot.schedule([.messageRead])
        let bo = try #require(UserID("bo"))
        try await depot.store.recordReceipts(
            .read, of: IntervalSet(1...70), by: bo, in: talk, in: depot.application)
        let events = try await depot.nextEvents()
        #expect(events.count == 70)
        #expect(Set(events.map(\.id)).count == 70)
    }

    @Test func `begins where the one before ended, and holds only its topics`() async throws {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        try await depot.send(Array("before".utf8), to: talk)
        try await depot.schedule([.messageSent])
        try await depot.send(Array("one".utf8), to: talk)
        #expect(try await depot.nextEvents().map(\.body) == ["one"])
        _ = try await depot.conversation()
        try await depot.send(Array("two".utf8), to: talk)
        #expect(try await depot.nextEvents().map(\.body) == ["two"])
        #expect(try await depot.nextEvents().isEmpty)
    }

    @Test func `is made once a day, and only once after days without a server (5_12)`() async throws
    {
        let depot = try await SampleApplication()
        try await depot.schedule([.messageSent])
        try await depot.exporter.work()
        #expect(try await depot.count() == 0)
        depot.wait(milliseconds: 3 * 86_400_000 + 5)
        try await depot.exporter.work()
        try await depot.exporter.work()
        #expect(try await depot.count() == 1)
        let schedule = try await depot.store.exportSchedule(in: depot.application)
        #expect(schedule.nextAt == Timestamp(milliseconds: 1_772_356_530_042 + 4 * 86_400_000))
        #expect(schedule.last != nil)
        depot.advanceOneDay()
        try await depot.exporter.work()
        #expect(try await depot.count() == 2)
        try await depot.schedule([], .disabled)
        depot.advanceOneDay()
        try await depot.exporter.work()
        #expect(try await depot.count() == 2)
    }

    @Test func `requires a key`() async throws {
        let depot = try await SampleApplication()
        let bare = try await depot.store.createApplication(name: "Bare").id
        await #expect(throws: Rejection.invalidOperation(.noExportKey)) {
            try await depot.store.setExportSchedule(.daily, [.messageSent], in: bare)
        }
        _ = try await depot.store.setExportSchedule(.disabled, [], in: bare)
    }
}

private struct Told {
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

    fileprivate func count() async throws -> Int64 {
        try await store.exports(limit: 1, in: application).total
    }

    /// The events of tomorrow's export.
    fileprivate func nextEvents() async throws -> [Told] {
        advanceOneDay()
        try await exporter.work()
        #expect(reported == [])
        let last = try await store.exportSchedule(in: application).last
        let content = try await content(of: try #require(last))
        return try #require(content["events"]).elements.map(Told.init)
    }
}
