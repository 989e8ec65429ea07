import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /apps/{app}/events` (X3).
    func listEvents() async throws -> Reply {
        let wanted = try EventQuery(query)
        guard wanted.wait > 0 else { return try await eventsReply(wanted) }
        // It holds a place as a stream does.
        let seat = try streamSeat(retryAfter: 1)
        defer { withExtendedLifetime(seat) {} }
        return try await eventsReply(wanted)
    }

    /// Counts this request among the token's streams for as long as the seat is held (H157).
    ///
    /// - Parameter seconds: When a request above the limit may be repeated: a long poll ends by itself soon, a
    ///   stream only when its client ends it.
    /// - Throws: 429 when the token has no more streams, 503 when the server has none.
    func streamSeat(retryAfter seconds: Int) throws(APIError) -> StreamSeat {
        do {
            return try api.streams.admit(token.id.uuid)
        } catch {
            guard error.status == .tooManyRequests else { throw APIError(error) }
            throw .rateLimited(
                """
                The token has \(api.settings.maximumStreamsPerToken) event streams and waiting requests open, \
                and may have no more.
                """, retryAfter: seconds)
        }
    }

    private func eventsReply(_ query: EventQuery) async throws -> Reply {
        let end = api.clock().milliseconds + query.wait
        var place: LogPosition? =
            switch query.start {
            case .oldest: nil
            case .end: try await store.logExtent(in: application).end
            case .after(let place): place
            }
        while true {
            let found = try await events(after: place, query)
            let left = end - api.clock().milliseconds
            guard found.json.isEmpty, left > 0, !Task.isCancelled else {
                return Reply(.ok, json(found))
            }
            place = found.through
            guard !found.isCut else { continue }
            await store.signal.wait(
                past: found.through, in: application,
                atMost: min(left, EventTail.patience))
        }
    }

    /// One answer full, in stretches that the memory can hold.
    private func events(
        after start: LogPosition?, _ query: EventQuery
    ) async throws -> (json: [[UInt8]], through: LogPosition, isCut: Bool) {
        var found: [[UInt8]] = []
        var (place, octets) = (start, 0)
        while true {
            let page = try await store.eventPage(
                after: place, types: query.types,
                limit: min(query.limit - found.count, EventTail.stretch), in: application)
            let written = api.tails.frames.json(
                page.events, atMost: 4 * EventFrames.budget - octets, in: application)
            found += written.map(\.json)
            octets += written.reduce(0) { $0 + $1.json.count }
            if written.count < page.events.count, let last = written.last {
                return (found, last.event.recorded.position, true)
            }
            place = page.through
            guard page.isCut, found.count < query.limit, octets < 4 * EventFrames.budget,
                // Wanted types may be rare: one answer looks only so far.
                !page.events.isEmpty
            else { return (found, page.through, page.isCut) }
        }
    }

    private func json(
        _ found: (json: [[UInt8]], through: LogPosition, isCut: Bool)
    ) -> [UInt8] {
        // Signed links, which compression would give away (H115).
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
