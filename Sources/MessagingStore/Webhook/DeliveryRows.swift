import Messaging
import SQL

// The rows of deliveries. The first pending delivery of a lane is the only one with a `next_at`.
extension Transaction {
    /// Adds deliveries after all others, each at the end of its lane. Deliveries of a merged conversation are added to
    /// the lane of the winner (X1).
    func add(
        _ drafts: [DeliveryDraft], at now: Timestamp, in application: Application.ID,
        newID: () -> WebhookDelivery.ID
    ) throws {
        let winners = try winners(of: Set(drafts.compactMap(\.conversation)), in: application)
        for (webhook, drafts) in Dictionary(grouping: drafts, by: \.webhook) {
            let last = try lastNumber(of: webhook, in: application)
            let named = drafts.map { draft in (id: newID(), draft: draft) }
            let lanes = named.map { id, draft in
                draft.conversation.map { id in winners[id] ?? id }?.bytes ?? id.bytes
            }
            var lanesWithFirst = try lanesWithFirst(among: lanes, of: webhook, in: application)
            let pending = WebhookDelivery.State.pending.rawValue
            let rows: [[SQLValue]] = zip(named, lanes).enumerated().map { index, entry in
                let ((id, draft), lane) = entry
                let isFirst = lanesWithFirst.insert(lane).inserted
                return [
                    .blob(application.bytes), .blob(webhook.bytes),
                    .integer(last + Int64(index) + 1), .blob(id.bytes), .blob(lane),
                    .blob(draft.event.bytes), .text(draft.type),
                    draft.position.map { .integer($0.number) } ?? .null, .blob(draft.body),
                    .text(pending), .integer(0), .integer(now.milliseconds),
                    .integer(now.milliseconds),
                    isFirst ? .integer(now.milliseconds) : .null,
                    draft.trace.map { .text($0.text) } ?? .null,
                ]
            }
            for chunk in rows.powerOfTwoChunks(upTo: 64) {
                try execute(
                    """
                    INSERT INTO deliveries (
                        application, webhook, number, id, lane, event, type, position, body, state,
                        attempts, created_at, asked_at, next_at, trace
                    ) VALUES \(rows: chunk)
                    """)
            }
        }
    }

    private func lastNumber(
        of webhook: Webhook.ID, in application: Application.ID
    ) throws -> Int64 {
        try first(.lastDelivery(of: webhook, in: application)) { row in try row.int64(0) } ?? 0
    }

    /// The lanes that already have a first delivery.
    private func lanesWithFirst(
        among lanes: [[UInt8]], of webhook: Webhook.ID, in application: Application.ID
    ) throws -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for chunk in Array(Set(lanes)).chunks(of: 64) {
            found.formUnion(
                try rows(.firstDeliveries(among: chunk, of: webhook, in: application)) { row in
                    try row.blob(1)
                })
        }
        return found
    }

    /// Makes the next pending delivery of a lane its first, unless the lane still has a first one.
    func promoteNext(
        _ lane: [UInt8], of webhook: Webhook.ID, at now: Timestamp, in application: Application.ID
    ) throws {
        guard try lanesWithFirst(among: [lane], of: webhook, in: application).isEmpty else {
            return
        }
        let next = try first(.nextOfLane(lane, of: webhook, in: application)) { row in
            try row.int64(0)
        }
        guard let next else { return }
        try execute(
            """
            UPDATE deliveries SET next_at = \(now)
            WHERE application = \(application) AND webhook = \(webhook) AND number = \(next)
            """)
    }

    /// Joins the lanes of two merged conversations (X1.5). Of the two first deliveries, the older one stays the first;
    /// all others follow in the order of their numbers.
    func joinLanes(
        of loser: Conversation.ID, into winner: Conversation.ID, in application: Application.ID
    ) throws {
        let webhooks = try rows("SELECT id FROM webhooks WHERE application = \(application)") {
            row in
            try row.id(0) as Webhook.ID
        }
        for webhook in webhooks {
            let first = try rows(
                .firstDeliveries(
                    among: [loser.bytes, winner.bytes], of: webhook, in: application)
            ) { row in try row.int64(0) }
            if let younger = first.max(), first.count > 1 {
                try execute(
                    """
                    UPDATE deliveries SET next_at = NULL
                    WHERE application = \(application) AND webhook = \(webhook)
                        AND number = \(younger)
                    """)
            }
            try execute(.joinedLane(of: loser, into: winner, of: webhook, in: application))
        }
    }

    /// A delivery with its number and lane; `nil` for an unknown one.
    func delivery(
        _ id: WebhookDelivery.ID, of webhook: Webhook.ID, in application: Application.ID
    ) throws -> (number: Int64, lane: [UInt8], delivery: WebhookDelivery)? {
        try first(
            """
            SELECT \(raw: WebhookDelivery.columns), number, log FROM deliveries
            WHERE application = \(application) AND id = \(id) AND webhook = \(webhook)
            """
        ) { row in
            var delivery = try WebhookDelivery(row)
            delivery.log = try WebhookDelivery.Log(row, 13)
            return (try row.int64(12), try row.blob(4), delivery)
        }
    }
}

extension WebhookDelivery {
    /// The columns that ``init(_:)`` reads, in this order.
    fileprivate static let columns: StaticString =
        """
        id, event, type, position, lane, state, attempts, created_at, next_at, finished_at, status,
        failure
        """

    init(_ row: borrowing Row) throws {
        guard let state = State(rawValue: try row.text(5)) else {
            throw StoreFault.unreadable("deliveries.state")
        }
        let id: ID = try row.id(0)
        let lane = try row.blob(4)
        let status = try row.optionalInt64(10)
        let failure = try row.optionalText(11)
        self.init(
            id: id, event: try row.id(1), type: try row.text(2),
            position: try row.optionalInt64(3).map { number in LogPosition(number) },
            conversation: lane == id.bytes ? nil : Conversation.ID(bytes: lane), state: state,
            attempts: try row.int64(6), createdAt: try row.timestamp(7),
            nextAt: try row.optionalTimestamp(8), finishedAt: try row.optionalTimestamp(9),
            answer: status == nil && failure == nil
                ? nil : Answer(status: status, failure: failure))
    }
}

extension WebhookDelivery.Log {
    /// Reads a column `log`; an empty log if it is NULL.
    init(_ row: borrowing Row, _ column: Int) throws {
        guard let encoded = try row.optionalBlob(.index(column)) else {
            self.init()
            return
        }
        var reader = ByteReader(encoded)
        self.init(
            headerNames: try reader.each { reader in try reader.text() },
            headerValues: try reader.each { reader in try reader.text() },
            attempts: try reader.each { reader in
                WebhookDelivery.Attempt(
                    at: try reader.timestamp(), duration: try reader.number(),
                    answer: .init(
                        status: try reader.optional { reader in try reader.number() },
                        failure: try reader.optional { reader in try reader.text() }),
                    response: try reader.bytes())
            })
        try reader.finish()
    }

    /// The bytes that ``init(_:_:)`` reads.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        for texts in [headerNames, headerValues] {
            writer.write(each: texts) { writer, text in writer.write(text) }
        }
        writer.write(each: attempts) { writer, attempt in
            writer.write(attempt.at)
            writer.write(attempt.duration)
            writer.write(optional: attempt.answer.status) { writer, status in
                writer.write(status)
            }
            writer.write(optional: attempt.answer.failure) { writer, text in writer.write(text) }
            writer.write(attempt.response)
        }
        return writer.bytes
    }
}

// The queries for deliveries. Each reads an index and sorts nothing, however many deliveries there are, which a
// test checks with the query plan.
extension SQL {
    /// Deliveries that are due, the longest due first, without some that are being sent.
    static func dueDeliveries(
        of webhook: Webhook.ID, besides taken: [Int64], at now: Timestamp, limit: Int,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT number, id, event, type, attempts, asked_at, trace, body FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) AND next_at <= \(now)
            AND number \(notIn: .integers(taken))
        ORDER BY next_at, number LIMIT \(limit)
        """
    }

    /// When the first delivery is due that is not due yet.
    static func nextDelivery(
        of webhook: Webhook.ID, after now: Timestamp, in application: Application.ID
    ) -> SQL {
        """
        SELECT next_at FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) AND next_at > \(now)
        ORDER BY next_at LIMIT 1
        """
    }

    /// The highest number of a delivery.
    static func lastDelivery(of webhook: Webhook.ID, in application: Application.ID) -> SQL {
        """
        SELECT number FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook)
        ORDER BY number DESC LIMIT 1
        """
    }

    /// The first deliveries of the lanes that have one.
    static func firstDeliveries(
        among lanes: some Collection<[UInt8]>, of webhook: Webhook.ID,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT number, lane FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook)
            AND lane \(in: .blobs(Array(lanes))) AND next_at IS NOT NULL
        """
    }

    /// The number of the oldest pending delivery of a lane.
    static func nextOfLane(
        _ lane: [UInt8], of webhook: Webhook.ID, in application: Application.ID
    ) -> SQL {
        """
        SELECT number FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) AND lane = \(lane)
            AND state = 'pending'
        ORDER BY number LIMIT 1
        """
    }

    /// Moves the pending deliveries of one conversation's lane to another lane.
    static func joinedLane(
        of loser: Conversation.ID, into winner: Conversation.ID, of webhook: Webhook.ID,
        in application: Application.ID
    ) -> SQL {
        """
        UPDATE deliveries SET lane = \(winner)
        WHERE application = \(application) AND webhook = \(webhook) AND lane = \(loser)
            AND state = 'pending'
        """
    }

    /// A page of deliveries, newest first.
    static func deliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State?, after last: Int64 = 0,
        before number: Int64, limit: Int, withLogs: Bool = false, of application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: WebhookDelivery.columns)\(raw: withLogs ? ", log" : "") FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(inState(state))
            AND number > \(last) AND number < \(number)
        ORDER BY number DESC LIMIT \(limit)
        """
    }

    /// The number of deliveries.
    static func deliveryCount(
        of webhook: Webhook.ID, in state: WebhookDelivery.State?, of application: Application.ID
    ) -> SQL {
        """
        SELECT COUNT(*) FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(inState(state))
        """
    }

    /// The newest deliveries in a state, with their positions in the log.
    static func lastDeliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State, limit: Int,
        of application: Application.ID
    ) -> SQL {
        """
        SELECT number, position FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(inState(state))
        ORDER BY number DESC LIMIT \(limit)
        """
    }

    /// The oldest deliveries in a state, with the times they ended.
    static func oldestDeliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State, limit: Int,
        of application: Application.ID
    ) -> SQL {
        """
        SELECT number, finished_at FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(inState(state))
        ORDER BY number LIMIT \(limit)
        """
    }

    /// The numbers of the oldest deliveries.
    static func oldestDeliveries(
        of webhook: Webhook.ID, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT number FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook)
        ORDER BY number LIMIT \(limit)
        """
    }

    /// The condition for a state. For all states it is omitted, because then another index has the order.
    private static func inState(_ state: WebhookDelivery.State?) -> SQL {
        state.map { state -> SQL in "AND state = \(state.rawValue)" } ?? ""
    }
}
