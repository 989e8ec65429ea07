import Messaging
import Testing

@testable import ParleyKit

@Suite struct OutboxOutcomeTests {
    private static let id = ParleyKit.Conversation.ID(.v7(at: Clock.now, random: 1))
    private static let other = ParleyKit.Conversation.ID(.v7(at: Clock.now, random: 2))

    private func outcome(
        _ status: Int, _ body: String, to kind: OutboxKind, retryAfter: Int? = nil,
        cursor: FeedPosition? = FeedPosition("e.1")
    ) -> OutboxOutcome {
        OutboxOutcome(
            OutboxResponse(
                status: status, body: Array(body.utf8), retryAfter: retryAfter, cursor: cursor),
            to: kind, creating: Self.id)
    }

    private func error(_ id: String, _ code: Int = 1, data: String = "{}") -> String {
        #"{"id":"\#(id)","code":\#(code),"message":"m","url":"u","data":\#(data)}"#
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 507, 520, 599])
    func `statuses that pass are retried (K32)`(_ status: Int) {
        for body in ["", "<html>", error("service_unavailable")] {
            guard case .retry(7, _) = outcome(status, body, to: .send, retryAfter: 7) else {
                Issue.record("\(status) \(body)")
                continue
            }
        }
    }

    @Test func `an answer that is none of ours is retried, whatever its status (K32)`() {
        for status in [302, 400, 403, 404, 409, 410, 418, 422] {
            guard case .retry = outcome(status, "<html>", to: .send) else {
                Issue.record("\(status)")
                continue
            }
        }
        guard case .retry = outcome(200, "<html>login</html>", to: .create) else {
            Issue.record("a creation without a conversation")
            return
        }
    }

    @Test func `a success without its position in the feed is none of ours (K32)`() {
        for kind in [OutboxKind.create, .send, .patch, .read, .deleteMessage, .leave] {
            for body in ["", "<html>login</html>", #"{"id":"\#(Self.id)"}"#] {
                guard case .retry = outcome(200, body, to: kind, cursor: nil) else {
                    Issue.record("\(kind) \(body)")
                    continue
                }
            }
        }
    }

    @Test func `a creation that names another conversation is a merge (K23, K25)`() {
        #expect(outcome(201, #"{"id":"\#(Self.id)"}"#, to: .create) == .done)
        #expect(outcome(200, #"{"id":"\#(Self.other)"}"#, to: .create) == .merged(Self.other, nil))
        guard
            case .merged(Self.other, let told?) = outcome(
                409, error("conflict", 108, data: #"{"id":"\#(Self.other)"}"#), to: .create)
        else {
            Issue.record("a conflict")
            return
        }
        #expect(told.code == .distinctMetadataIgnored)
    }

    @Test func `an id in use is our own after a lost answer (K31)`() {
        #expect(outcome(409, error("id_in_use", 111), to: .send) == .done)
        #expect(outcome(409, error("id_in_use", 111), to: .create) == .done)
    }

    @Test func `a key in use is the row's own, with the path of before a merge (K31)`() {
        for kind in [OutboxKind.patch, .send] {
            #expect(outcome(422, error("idempotency_key_reuse", 112), to: kind) == .done)
        }
    }

    @Test func `receipts of a merged conversation wait for the feed (K31)`() {
        for kind in [OutboxKind.read, .delivery, .markAllRead] {
            guard case .retry = outcome(409, error("conversation_merged", 118), to: kind) else {
                Issue.record("\(kind)")
                continue
            }
        }
    }

    @Test func `what is gone already is done (K32)`() {
        for kind in [
            OutboxKind.read, .delivery, .markAllRead, .deleteMessage, .deleteConversation, .leave,
            .unfollow,
        ] {
            #expect(outcome(404, error("not_found"), to: kind) == .done)
            #expect(outcome(410, error("object_deleted"), to: kind) == .done)
        }
    }

    @Test func `refusals stop the lane if nothing behind can succeed (K32)`() {
        let cases: [(Int, OutboxKind, Bool)] = [
            (403, .send, true), (404, .send, true), (410, .patch, true), (422, .send, false),
            (413, .send, false), (422, .patch, false), (422, .create, true), (403, .read, false),
        ]
        for (status, kind, wholeLane) in cases {
            guard case .refused(_, let whole) = outcome(status, error("x"), to: kind) else {
                Issue.record("\(status) \(kind)")
                continue
            }
            #expect(whole == wholeLane, "\(status) \(kind)")
        }
    }

    @Test func `a missing session is renewed (K32)`() {
        #expect(outcome(401, error("authentication_required"), to: .send) == .authenticate)
    }

    @Test func `a failed send holds up later sends, a failed creation everything (K30, K33)`() {
        let lanes: [[(OutboxKind, hasFailed: Bool)]] = [
            [(.send, true), (.send, false), (.patch, false), (.patch, false)],
            [(.create, true), (.send, false)], [(.send, false), (.send, false)],
        ]
        let chosen = lanes.map { rows in
            var choice = StoreTransaction.LaneChoice()
            for (index, (kind, hasFailed)) in rows.enumerated() {
                choice.add(row(Int64(index), "a", kind), hasFailed: hasFailed)
            }
            return choice.row?.number
        }
        #expect(chosen == [2, nil, 0])
    }

    @Test
    func
        `deliveries of a conversation are reported once a second, whatever else ends delays (K55)`()
    {
        let now = ContinuousClock.now
        let rows = [row(1, "deliveries a", .delivery), row(2, "deliveries b", .delivery)]
        let read = row(3, "receipts a", .read)
        var schedule = OutboxSchedule()
        schedule.noteStart(of: rows[0], at: now)
        schedule.noteStart(of: read, at: now)
        schedule.endDelays(kicks: 1)
        #expect((rows + [read]).map { schedule.allows($0, at: now) } == [false, true, true])
        #expect(schedule.pause(before: rows, at: now) == 1000)
        #expect(schedule.allows(rows[0], at: now + .seconds(1)))
        schedule.noteFailure(in: "deliveries b", retryingAfter: .seconds(7), at: now)
        #expect(!schedule.allows(rows[1], at: now + .seconds(6)))
        #expect(schedule.pause(before: [rows[1]], at: now) == 7000)
        schedule.endDelays(kicks: 2)
        #expect(schedule.allows(rows[1], at: now))
    }

    private func row(_ number: Int64, _ lane: String, _ kind: OutboxKind) -> OutboxRow {
        OutboxRow(
            number: number, lane: lane, kind: kind, conversation: nil, message: nil, payload: [],
            key: "")
    }

    @Test func `the first delays are short, and no delay exceeds its limit (K14)`() {
        for attempt in 1...200 {
            let delay = Backoff.delay(attempt: attempt, first: 1, most: 60)
            #expect(delay >= .zero && delay <= .seconds(min(60, 1 << min(attempt - 1, 20))))
        }
    }
}
