import CLinux
import Dispatch
import Glibc
import SystemSupport

/// Returns memory to the system: freed memory every 30 seconds, and code after the start and in quiet minutes.
///
/// Without the first, glibc keeps the memory of a burst: after 600 slow clients, 85 MB of buffers remained.
/// A lower `M_MMAP_THRESHOLD` returns them at once but makes durable sends three times slower,
/// because SQLite allocates such blocks in every transaction.
final class MemoryTrimmer {
    private let timer: any DispatchSourceTimer

    /// Starts the timer, which ends with the last reference.
    init() {
        let queue = DispatchQueue(label: "parley.memory", qos: .utility)
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + .seconds(30), repeating: .seconds(30), leeway: .seconds(5))
        let activity = Locked(ProcessActivity())
        timer.setEventHandler { @Sendable in
            _ = malloc_trim(0)
            if activity.withLock({ activity in activity.isQuiet(at: ProcessUsage.cpuTime) }) {
                CodePages.release()
            }
        }
        timer.resume()
        // Most of what was allocated and of the code that has run until then serves only the start.
        queue.asyncAfter(deadline: .now() + .seconds(1)) { @Sendable in
            _ = malloc_trim(0)
            CodePages.release()
        }
    }

    deinit { timer.cancel() }
}

/// Tells from its processor time whether the process has been quiet for a minute.
struct ProcessActivity {
    /// The most processor time of a quiet half-minute: 0.5 % of one core.
    static let quietTime = 150_000_000

    private var last: Int?
    private var quietPeriods = 0

    /// Called every half-minute with the processor time until then, in nanoseconds.
    ///
    /// - Returns: Whether two half-minutes in a row were quiet; after that, true again a minute later.
    mutating func isQuiet(at cpuTime: Int) -> Bool {
        defer { self.last = cpuTime }
        guard let last, cpuTime - last <= Self.quietTime else {
            quietPeriods = 0
            return false
        }
        quietPeriods += 1
        return quietPeriods.isMultiple(of: 2)
    }
}

/// The pages of the program and its libraries that hold code.
enum CodePages {
    /// Removes them from the memory of the process. They stay in the page cache, from which the kernel maps them
    /// again when they run.
    static func release() {
        for range in ranges(in: ProcessUsage.text("/proc/self/smaps")) {
            // The range is mapped from a file and has no written page, so nothing is lost. If a mapping
            // has changed meanwhile, the call fails or affects a newer one of the same kind: code is never
            // unmapped here, because no library is closed.
            _ = unsafe madvise(
                UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// The mappings with unchanged code in the format of `/proc/self/smaps` (proc(5)).
    ///
    /// Never read-only data: its pages hold relocations, which exist only in memory. Nor a mapping with an own copy
    /// of a page, as a breakpoint of a debugger makes; pages of a file that is not synced yet are no copies.
    static func ranges(in map: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in map.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let name = words.first else { continue }
            if name.last == ":" {
                if name == "Anonymous:", words.count > 1, words[1] == "0",
                    let range = current
                {
                    ranges.append(range)
                }
            } else {
                current = nil
                let bounds = name.split(separator: "-").compactMap { UInt($0, radix: 16) }
                if words.count > 5, words[1] == "r-xp", words[5].first == "/", bounds.count == 2,
                    bounds[0] < bounds[1]
                {
                    current = bounds[0]..<bounds[1]
                }
            }
        }
        return ranges
    }
}
