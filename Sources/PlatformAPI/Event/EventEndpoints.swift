import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The event log (X3).
    static let events = [
        Endpoint(
            .get, "/apps/{app}/events", "Lists or streams events.", isCompressed: true,
            .eventStream(
                { context in try await context.streamEvents() },
                else: { context in try await context.listEvents() })
        ) { _ in
            Operation(
                "listEvents",
                query: [
                    Parameter(
                        "after", .pattern("([0-9]+|now)"),
                        "The last position already known; `now` for future events."),
                    Parameter(
                        "at", .string,
                        "Begins at the first event of this time or later; with `order=desc` before it."
                    ),
                    Parameter(
                        "before", .integer(0 ... .max),
                        "With `order=desc`: the oldest position already known."),
                    Parameter(
                        "conversation", .name(in: .conversations),
                        "Only events of this conversation, also those of conversations merged into it."
                    ),
                    Parameter(
                        "include", .choice(["text"]), "Adds `text`, the event as one line."),
                    Parameter(
                        "limit", .integer(1...Int64.max),
                        "The number of events; 100 by default, at most 1000."),
                    Parameter(
                        "order", .choice(["asc", "desc"]),
                        "`desc` for the newest events first; not for a stream."),
                    Parameter(
                        "types", .string, "Only these types, separated by commas."),
                    Parameter(
                        "user", .string,
                        "Only events that this user caused, or that name the user."),
                    Parameter(
                        "wait", .integer(0...Int64.max),
                        "Seconds to wait for an event when there is none; 60 at most."),
                ],
                answers: [
                    .ok(
                        EventJSON.listSchema,
                        "Events in the order asked for, and the position to continue at. At most "
                            + "10,000 events are examined, so there may be fewer than `limit`.")
                ], errors: [.positionGone],
                example: Example(query: [("after", "0"), ("limit", "2")]))
        }
    ]
}

extension RequestContext {
    /// `GET /apps/{app}/events` (X3).
    func listEvents() async throws -> Reply {
        let eventQuery = try EventQuery(query)
        guard eventQuery.wait > 0 else { return try await eventsReply(eventQuery) }
        // A request that waits for events counts as a stream.
        let slot = try streamSlot(retryAfter: 1)
        defer { withExtendedLifetime(slot) {} }
        return try await eventsReply(eventQuery)
    }

    /// Counts this request among the streams of the token, or of the user of the session, for as long as the slot is held
    /// (H157).
    ///
    /// - Parameter seconds: When a request above the limit may be repeated: a long poll ends by itself soon, a
    ///   stream only when its client ends it.
    /// - Throws: 429 above the limit of the token or user, 503 above that of the server.
    func streamSlot(retryAfter seconds: Int) throws(APIError) -> StreamSlot {
        let (owner, limit, name) =
            caller.user.map { user in
                ("\(application.uuid) \(user.text)", api.settings.maximumStreamsPerUser, "user")
            } ?? (caller.id.uuid, api.settings.maximumStreamsPerToken, "token")
        do {
            return try api.streams.admit(owner, atMost: limit)
        } catch {
            guard error.status == .tooManyRequests else { throw APIError(error) }
            throw .rateLimited(
                "The \(name) has \(limit) event streams and waiting requests open, and may have no more.",
                retryAfter: seconds)
        }
    }

    private func eventsReply(_ query: EventQuery) async throws -> Reply {
        let end = api.clock().milliseconds + query.wait
        var start = try await order(query)
        var scanned: Int64 = 0
        while true {
            var found = try await events(start, query, atMost: MessagingStore.eventWindow - scanned)
            scanned += found.scanned
            found.scanned = scanned
            let remaining = end - api.clock().milliseconds
            // A search that is cut without a hit has examined as many events as a request may.
            guard found.json.isEmpty, !found.isCut, remaining > 0, !Task.isCancelled else {
                return Reply(.ok, json(found))
            }
            start = .ascending(after: found.through)
            await store.signal.poll(
                past: found.through, in: application, atMost: remaining)
        }
    }

    /// The order of the events, and where they begin.
    private func order(_ query: EventQuery) async throws -> LogOrder {
        switch query.start {
        case .oldest: return .ascending(after: nil)
        case .end: return .ascending(after: try await store.logExtent(in: application).end)
        case .after(let position): return .ascending(after: position)
        case .before(let position): return .descending(before: position)
        case .time(let time, let isDescending):
            let last = try await store.logPosition(before: time, in: application)
            return isDescending
                ? .descending(before: LogPosition(last.number + 1)) : .ascending(after: last)
        }
    }

    private struct FoundEvents {
        var json: [[UInt8]] = []
        var through = LogPosition.start
        var isCut = false
        var scanned: Int64 = 0
    }

    /// Reads the events of one answer in batches, of which each examines what the earlier ones have left.
    private func events(
        _ start: LogOrder, _ query: EventQuery, atMost window: Int64
    ) async throws -> FoundEvents {
        let encoder = api.liveLogs.encoder(.init(includesText: query.includesText))
        var found = FoundEvents()
        var order = start
        var bytes = 0
        while true {
            var pageQuery = EventLogQuery(query, order)
            pageQuery.limit = min(query.limit - found.json.count, LiveEventLog.batchSize)
            pageQuery.window = window - found.scanned
            let page = try await store.eventPage(pageQuery, in: application)
            let written = encoder.json(
                page.events, atMost: 4 * EventEncoder.budget - bytes, in: application)
            found.json += written.map(\.json)
            bytes += written.reduce(0) { $0 + $1.json.count }
            found.through = page.through
            found.isCut = page.isCut
            found.scanned += page.scanned
            if written.count < page.events.count, let last = written.last?.event.recorded.position {
                found.scanned -= abs(page.through.number - last.number)
                found.through = last
                found.isCut = true
                return found
            }
            guard page.isCut, found.json.count < query.limit, bytes < 4 * EventEncoder.budget,
                found.scanned < window
            else { return found }
            switch order {
            case .ascending: order = .ascending(after: page.through)
            case .descending: order = .descending(before: page.through)
            }
        }
    }

    private func json(_ found: FoundEvents) -> [UInt8] {
        // The events hold signed links, which compression could reveal (H115).
        secrets.note()
        var writer = JSONWriter(capacity: found.json.reduce(64) { $0 + $1.count })
        writer.object { writer in
            writer.key("events")
            writer.array { writer in for json in found.json { writer.raw(json) } }
            writer.member("next", found.through.number)
            writer.member("scanned", found.scanned)
        }
        return writer.finish()
    }
}

extension EventLogQuery {
    /// The events of a request.
    fileprivate init(_ query: EventQuery, _ order: LogOrder) {
        self.init(
            order, types: query.types, conversation: query.conversation, user: query.user,
            limit: query.limit)
    }
}

extension RequestContext {
    /// `GET /apps/{app}/events` with `Accept: text/event-stream` (X3, H151–H158).
    func streamEvents() async throws -> EventStream {
        let eventQuery = try EventQuery(query, isStream: true, lastEventID: try lastEventID())
        let start = try await order(eventQuery)
        let extent = try await store.logExtent(in: application)
        let position: LogPosition =
            switch start {
            case .ascending(let after?): after
            case .ascending(nil), .descending: extent.trimmed
            }
        do {
            try extent.check(position)
        } catch .invalid(_, let rule, let detail) where request.fields["Last-Event-ID"] != nil {
            throw Rejection.invalid("Last-Event-ID", rule, detail)
        }
        let slot = try streamSlot(retryAfter: 60)
        // Frames hold signed links, and each client's own compression would cost more than it saves.
        secrets.note()
        let form = EventEncoder.Form(
            hidesContent: hidesContent, includesText: eventQuery.includesText)
        let reader = LiveEventStream(
            log: api.liveLogs.log(of: application, in: form), after: position, end: extent.end,
            query: EventLogQuery(eventQuery, .ascending(after: position)), token: caller.id)
        let stream = EventStream(reader, slot: slot)
        if let end = caller.expiresAt {
            stream.expire(in: max(0, end.milliseconds - api.clock().milliseconds))
        }
        return stream
    }

    /// The id that a client sends when it reconnects; `nil` for none.
    func lastEventID() throws -> String? {
        do {
            return try LastEventID.read(request)
        } catch {
            throw Rejection.invalid("Last-Event-ID", .lastEventID)
        }
    }
}
