import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Uploads

/// A ring of the latest events of a log as encoded frames, in the batches in which they were read.
///
/// A stream that wants all types of a batch sends its one shared buffer; the others send single frames.
struct RecentEvents: Sendable {
    /// The most bytes it holds: a few seconds at a thousand messages per second.
    static let byteLimit = 8 << 20
    /// The most batches it holds.
    private static let batchLimit = 4096

    /// Consecutive events.
    struct Batch: Sendable {
        let frames: [EventEncoder.Frame]
        let joined: EncodedEvent
        let types: Set<EventType>
        /// The position before the first event.
        let start: LogPosition
        /// The position of the last event.
        let end: LogPosition
    }

    /// The events after a position.
    enum Step: Sendable {
        case batch(Batch)
        /// There is no event yet; the stream is woken when there is one.
        case end
        /// The ring no longer holds the events; they must be read from the store.
        case discarded
    }

    private var batches: [Batch] = []
    /// The number of discarded batches at the front.
    private var discarded = 0
    private var bytes = 0
    /// The position of the last event appended.
    private(set) var end: LogPosition

    /// An empty ring after a position.
    init(after position: LogPosition = .start) { end = position }

    /// Appends events that follow its end, and discards the oldest ones above the limits.
    mutating func append(_ frames: [EventEncoder.Frame]) {
        guard let last = frames.last else { return }
        let batch = Batch(
            frames: frames, joined: .joined(frames.map(\.event)), types: Set(frames.map(\.type)),
            start: end, end: last.position)
        batches.append(batch)
        bytes += batch.joined.count
        end = batch.end
        // The last batch stays, however large: streams at the end of the log send it from here.
        while batches.count - discarded > 1,
            bytes > Self.byteLimit || batches.count - discarded > Self.batchLimit
        {
            bytes -= batches[discarded].joined.count
            discarded += 1
        }
        if discarded > batches.count / 2 {
            batches.removeFirst(discarded)
            discarded = 0
        }
    }

    /// Returns the batch that holds the event after a position.
    func next(after position: LogPosition) -> Step {
        guard position < end else { return .end }
        guard discarded < batches.count, batches[discarded].start <= position else {
            return .discarded
        }
        var (low, high) = (discarded, batches.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].end <= position { low = middle + 1 } else { high = middle }
        }
        return .batch(batches[low])
    }
}

/// Encodes events for pages and for streams.
struct EventEncoder: Sendable {
    /// The size in bytes after which a batch gets no more events.
    static let budget = 1 << 20

    /// What the JSON of an event leaves out and adds.
    struct Form: Hashable, Sendable {
        /// Whether the contents of messages are hidden (``ContentHiding``).
        var hidesContent = false
        /// Whether there is a member `text`, the line of the event in `parley log`.
        var includesText = false
    }

    let publicBase: String
    let downloads: Downloads
    var form = Form()

    /// An event as streams send it.
    struct Frame: Sendable {
        let position: LogPosition
        let type: EventType
        let event: EncodedEvent
    }

    /// Returns the first events as JSON: at least one, and no more once they have reached the budget in bytes.
    func json(
        _ events: [ResolvedEvent], atMost budget: Int = budget, in application: Application.ID
    ) -> [(event: ResolvedEvent, json: [UInt8])] {
        let links = LinkBuilder(publicBase: publicBase, application: application)
        var (found, bytes): ([(event: ResolvedEvent, json: [UInt8])], Int) = ([], 0)
        for event in events {
            guard found.isEmpty || bytes < budget else { break }
            // URLs are signed as of the event, so that its JSON stays the same; `refresh_url` returns a new one.
            let presentation = Presentation(
                version: .v3_0, links: links,
                sign: downloads.signer(at: event.recorded.at.milliseconds))
            var writer = JSONWriter(capacity: 1024)
            EventJSON(event, includesText: form.includesText).write(presentation, into: &writer)
            let json =
                form.hidesContent ? ContentHiding.hidden(writer.finish()) : writer.finish()
            bytes += json.count
            found.append((event, json))
        }
        return found
    }

    /// Returns the first events as frames, within the budget.
    func frames(_ events: [ResolvedEvent], in application: Application.ID) -> [Frame] {
        json(events, in: application).compactMap { event, json in
            let recorded = event.recorded
            return EncodedEvent(
                data: json, name: recorded.event.type.rawValue,
                id: String(recorded.position.number)
            ).map { encoded in
                Frame(position: recorded.position, type: recorded.event.type, event: encoded)
            }
        }
    }

    /// The event for a client whose position is deleted, so that it must read everything again (H154); it has no id,
    /// so that the client does not resume after it.
    static func gone(_ oldest: LogPosition) -> EncodedEvent? {
        EncodedEvent(data: #"{"oldest":\#(oldest.number)}"#, name: "position_gone")
    }
}
