import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /apps/{app}/events` with `Accept: text/event-stream` (X3, H151–H158).
    func streamEvents() async throws -> EventStream {
        let wanted = try EventQuery(query, lastEventID: try lastEventID())
        let extent = try await store.logExtent(in: application)
        let place: LogPosition =
            switch wanted.start {
            case .oldest: extent.trimmed
            case .end: extent.end
            case .after(let place): place
            }
        do {
            try extent.check(place)
        } catch .invalid(_, let rule, let detail) where request.fields["Last-Event-ID"] != nil {
            throw Rejection.invalid("Last-Event-ID", rule, detail)
        }
        let seat = try streamSeat(retryAfter: 60)
        // Frames hold signed links, and each client's own compression would cost more than it saves.
        secrets.note()
        let reader = EventReader(
            tail: api.tails.tail(of: application), after: place, end: extent.end,
            types: wanted.types, token: token.id)
        let stream = EventStream(reader, seat: seat)
        if let end = token.expiresAt {
            stream.expire(in: max(0, end.milliseconds - api.clock().milliseconds))
        }
        return stream
    }

    private func lastEventID() throws -> String? {
        do {
            return try LastEventID.read(request)
        } catch {
            throw Rejection.invalid("Last-Event-ID", .lastEventID)
        }
    }
}
