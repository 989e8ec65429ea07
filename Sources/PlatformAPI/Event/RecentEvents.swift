import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Uploads

/// The latest events of a log as frames, in batches as they were read.
///
/// A batch is one buffer that all readers send who want everything in it, and its single frames for the
/// others.
struct RecentEvents: Sendable {
    /// Bytes and batches that are kept: some seconds at a thousand messages a second.
    static let (byteLimit, batchLimit) = (8 << 20, 4096)

    /// Events that follow each other without a gap.
    struct Batch: Sendable {
        let frames: [EventEncoder.Frame]
        let joined: EncodedEvent
        let types: Set<EventType>
        /// The place before the first of them.
        let start: LogPosition
        /// The last one.
        let end: LogPosition
    }

    /// What a reader finds.
    enum Step: Sendable {
        case batch(Batch)
        /// Nothing yet: he is woken.
        case end
        /// It reaches back less far: the store has it.
        case behind
    }

    private var batches: [Batch] = []
    /// How many at the front are gone.
    private var gone = 0
    private var bytes = 0
    /// The last position it has had.
    private(set) var end: LogPosition

    /// An empty ring behind a place.
    init(after place: LogPosition = .start) { end = place }

    /// Adds events that follow its end, and lets go of the oldest.
    mutating func append(_ frames: [EventEncoder.Frame]) {
        guard let last = frames.last else { return }
        let batch = Batch(
            frames: frames, joined: .joined(frames.map(\.event)), types: Set(frames.map(\.type)),
            start: end, end: last.position)
        batches.append(batch)
        bytes += batch.joined.count
        end = batch.end
        // One batch stays, however large: who is at the end has to get it from here.
        while batches.count - gone > 1,
            bytes > Self.byteLimit || batches.count - gone > Self.batchLimit
        {
            bytes -= batches[gone].joined.count
            gone += 1
        }
        if gone > batches.count / 2 {
            batches.removeFirst(gone)
            gone = 0
        }
    }

    /// The batch that holds what comes after a place.
    func next(after place: LogPosition) -> Step {
        guard place < end else { return .end }
        guard gone < batches.count, batches[gone].start <= place else { return .behind }
        var (low, high) = (gone, batches.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].end <= place { low = middle + 1 } else { high = middle }
        }
        return .batch(batches[low])
    }
}

/// Writes events down: for the members of an answer, and for streams.
struct EventEncoder: Sendable {
    /// Bytes of one stretch, about: behind it the rest is for another one.
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
        _ events: [ResolvedEvent], atMost budget: Int = budget, in application: Application.ID
    ) -> [(event: ResolvedEvent, json: [UInt8])] {
        let links = LinkBuilder(publicBase: publicBase, application: application)
        var (found, bytes): ([(event: ResolvedEvent, json: [UInt8])], Int) = ([], 0)
        for event in events {
            guard found.isEmpty || bytes < budget else { break }
            // Signed as of the event, so that its bytes stay the same; `refresh_url` leads to a fresh URL.
            let presentation = Presentation(
                version: .v3_0, links: links, sign: downloads.signing(at: event.recorded.at))
            var writer = JSONWriter(capacity: 1024)
            EventJSON(event).write(presentation, into: &writer)
            let json = writer.finish()
            bytes += json.count
            found.append((event, json))
        }
        return found
    }

    /// The same as frames.
    func frames(_ events: [ResolvedEvent], in application: Application.ID) -> [Frame] {
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
