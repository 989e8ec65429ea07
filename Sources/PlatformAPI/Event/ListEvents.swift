import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /apps/{app}/events` (X3).
    func listEvents() async throws -> Reply {
        let query = try EventQuery(try Query(request.target))
        guard query.wait > 0 else { return try await eventsReply(query) }
        // It holds a place as a stream does.
        let seat: StreamSeat
        do {
            seat = try api.streams.admit(token.id.uuid)
        } catch {
            return Reply(error)
        }
        defer { withExtendedLifetime(seat) {} }
        return try await eventsReply(query)
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

extension Reply {
    /// There is no room for one more who waits (H157).
    init(_ refusal: Refusal) {
        self =
            refusal.status == .tooManyRequests ? .tooManyRequests : APIError(refusal).reply
    }
}
