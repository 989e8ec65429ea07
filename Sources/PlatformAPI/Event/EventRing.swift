import HTTP
import Messaging

/// The latest events of a log as frames, in batches as they were read.
///
/// A batch is one buffer that all readers send who want everything in it, and its single frames for the
/// others.
struct EventRing: Sendable {
    /// Octets and batches that are kept: some seconds at a thousand messages a second.
    static let (octetLimit, batchLimit) = (8 << 20, 4096)

    /// Events that follow each other without a gap.
    struct Batch: Sendable {
        let frames: [EventFrames.Frame]
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
    private var octets = 0
    /// The last position it has had.
    private(set) var end: LogPosition

    /// An empty ring behind a place.
    init(after place: LogPosition = .start) { end = place }

    /// Adds events that follow its end, and lets go of the oldest.
    mutating func append(_ frames: [EventFrames.Frame]) {
        guard let last = frames.last else { return }
        let batch = Batch(
            frames: frames, joined: .joined(frames.map(\.event)), types: Set(frames.map(\.type)),
            start: end, end: last.position)
        batches.append(batch)
        octets += batch.joined.count
        end = batch.end
        // One batch stays, however large: who is at the end has to get it from here.
        while batches.count - gone > 1,
            octets > Self.octetLimit || batches.count - gone > Self.batchLimit
        {
            octets -= batches[gone].joined.count
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
