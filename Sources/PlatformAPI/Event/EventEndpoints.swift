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
                        "limit", .integer(1...Int64.max),
                        "The number of events; 100 by default, at most 1000."),
                    Parameter(
                        "types", .string, "Only these types, separated by commas."),
                    Parameter(
                        "wait", .integer(0...Int64.max),
                        "Seconds to wait for an event when there is none; 60 at most."),
                ],
                answers: [
                    .ok(
                        EventJSON.listSchema,
                        "Events, oldest first, and the position to continue after.")
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
        var position: LogPosition? =
            switch query.start {
            case .oldest: nil
            case .end: try await store.logExtent(in: application).end
            case .after(let position): position
            }
        while true {
            let found = try await events(after: position, query)
            let remaining = end - api.clock().milliseconds
            guard found.json.isEmpty, remaining > 0, !Task.isCancelled else {
                return Reply(.ok, json(found))
            }
            position = found.through
            guard !found.isCut else { continue }
            await store.signal.poll(
                past: found.through, in: application, atMost: remaining)
        }
    }

    /// Reads the events of one answer in batches.
    private func events(
        after start: LogPosition?, _ query: EventQuery
    ) async throws -> (json: [[UInt8]], through: LogPosition, isCut: Bool) {
        var found: [[UInt8]] = []
        var (position, bytes) = (start, 0)
        while true {
            let page = try await store.eventPage(
                after: position, types: query.types,
                limit: min(query.limit - found.count, LiveEventLog.batchSize), in: application)
            let written = api.liveLogs.frames.json(
                page.events, atMost: 4 * EventEncoder.budget - bytes, in: application)
            found += written.map(\.json)
            bytes += written.reduce(0) { $0 + $1.json.count }
            if written.count < page.events.count, let last = written.last {
                return (found, last.event.recorded.position, true)
            }
            position = page.through
            guard page.isCut, found.count < query.limit, bytes < 4 * EventEncoder.budget,
                // Matching events may be rare: a page without any ends the search, which limits the work for one
                // answer.
                !page.events.isEmpty
            else { return (found, page.through, page.isCut) }
        }
    }

    private func json(
        _ found: (json: [[UInt8]], through: LogPosition, isCut: Bool)
    ) -> [UInt8] {
        // The events hold signed links, which compression could reveal (H115).
        secrets.note()
        var writer = JSONWriter(capacity: found.json.reduce(64) { $0 + $1.count })
        writer.object { writer in
            writer.key("events")
            writer.array { writer in for json in found.json { writer.raw(json) } }
            writer.member("next", found.through.number)
        }
        return writer.finish()
    }
}

extension RequestContext {
    /// `GET /apps/{app}/events` with `Accept: text/event-stream` (X3, H151–H158).
    func streamEvents() async throws -> EventStream {
        let eventQuery = try EventQuery(query, lastEventID: try lastEventID())
        let extent = try await store.logExtent(in: application)
        let position: LogPosition =
            switch eventQuery.start {
            case .oldest: extent.trimmed
            case .end: extent.end
            case .after(let position): position
            }
        do {
            try extent.check(position)
        } catch .invalid(_, let rule, let detail) where request.fields["Last-Event-ID"] != nil {
            throw Rejection.invalid("Last-Event-ID", rule, detail)
        }
        let slot = try streamSlot(retryAfter: 60)
        // Frames hold signed links, and each client's own compression would cost more than it saves.
        secrets.note()
        let logs = hidesContent ? api.hiddenLogs : api.liveLogs
        let reader = LiveEventStream(
            log: logs.log(of: application), after: position, end: extent.end,
            types: eventQuery.types, token: caller.id)
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
