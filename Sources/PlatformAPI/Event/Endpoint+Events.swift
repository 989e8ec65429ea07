import HTTP
import JSON
import Messaging
import MessagingWire

extension Endpoint {
    /// The event log (X3).
    static let events = [
        Endpoint(
            .get, "/apps/{app}/events", "Lists or streams what has happened.", isCompressed: true,
            .streamed(
                { call in try await call.streamEvents() },
                else: { call in try await call.listEvents() })
        ) { _ in
            Operation(
                "listEvents",
                query: [
                    Parameter(
                        "after", .pattern("([0-9]+|now)"),
                        "The last position already known; `now` for what is yet to come."),
                    Parameter(
                        "limit", .integer(1...Int64.max),
                        "How many events; 100 unless said otherwise, 1000 at most."),
                    Parameter(
                        "types", .string, "Only these types, parted by commas."),
                    Parameter(
                        "wait", .integer(0...Int64.max),
                        "Seconds to wait for an event when there is none; 60 at most."),
                ],
                answers: [
                    .ok(EventJSON.listSchema, "Events, oldest first, and where to go on.")
                ], errors: [.positionGone],
                example: Example(query: [("after", "0"), ("limit", "2")]))
        }
    ]
}
