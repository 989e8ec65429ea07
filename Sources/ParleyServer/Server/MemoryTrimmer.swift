import CLinux
import Dispatch

/// Gives memory that was freed back to the system, every half minute.
///
/// By itself glibc keeps what a burst has needed: after 600 slow peers at once 85 MB stayed of what
/// had been their buffers. A lower `M_MMAP_THRESHOLD` gives them back at once, but costs two thirds of
/// the durable sends, because SQLite allocates such blocks in every transaction.
final class MemoryTrimmer {
    private let timer: any DispatchSourceTimer

    /// Begins; ends with the last reference.
    init() {
        timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "parley.memory", qos: .utility))
        timer.schedule(
            deadline: .now() + .seconds(30), repeating: .seconds(30), leeway: .seconds(5))
        timer.setEventHandler { @Sendable in _ = malloc_trim(0) }
        timer.resume()
    }

    deinit { timer.cancel() }
}
