import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire
import Uploads

/// Writes events down: for the members of an answer, and for streams.
struct EventFrames: Sendable {
    /// Octets of one stretch, about: behind it the rest is for another one.
    static let budget = 1 << 20

    let publicBase: String
    let downloads: Downloads

    /// An event as a stream sends it.
    struct Frame: Sendable {
        let position: LogPosition
        let type: EventType
        let event: EncodedEvent
    }

    /// Some events as JSON, up to the budget, at least one.
    func json(
        _ events: [ShownEvent], atMost budget: Int = budget, in application: Application.ID
    ) -> [(event: ShownEvent, json: [UInt8])] {
        let links = LinkBuilder(publicBase: publicBase, application: application)
        var (found, octets): ([(event: ShownEvent, json: [UInt8])], Int) = ([], 0)
        for event in events {
            guard found.isEmpty || octets < budget else { break }
            // Signed as of the event, so that its bytes stay the same; `refresh_url` leads to a fresh URL.
            let presentation = Presentation(
                version: .v3_0, links: links, sign: downloads.signing(at: event.recorded.at))
            var writer = JSONWriter(capacity: 1024)
            EventJSON(event).write(presentation, into: &writer)
            let json = writer.finish()
            octets += json.count
            found.append((event, json))
        }
        return found
    }

    /// The same as frames.
    func frames(_ events: [ShownEvent], in application: Application.ID) -> [Frame] {
        json(events, in: application).compactMap { shown, json in
            let recorded = shown.recorded
            return EncodedEvent(
                data: json, name: recorded.event.type.rawValue,
                id: String(recorded.position.number)
            ).map { encoded in
                Frame(position: recorded.position, type: recorded.event.type, event: encoded)
            }
        }
    }

    /// Tells a reader who came too late that he must look at everything anew (H154); without an id,
    /// so that he does not go on behind it.
    static func gone(_ oldest: LogPosition) -> EncodedEvent? {
        EncodedEvent(data: #"{"oldest":\#(oldest.number)}"#, name: "position_gone")
    }
}
