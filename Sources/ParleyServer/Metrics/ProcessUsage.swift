import CLinux
import Dispatch
import FoundationEssentials
import Glibc

/// What this process uses of its machine, as the kernel says; 0 where it says nothing.
struct ProcessUsage {
    /// Nanoseconds of processor time, of all threads.
    let cpuTime: Int
    /// Bytes in RAM.
    let residentMemory: Int
    /// Open descriptors.
    let openDescriptors: Int
    /// How many there may be.
    let descriptorLimit: Int

    /// Asks; reads two small files of the kernel's, which takes microseconds.
    init() {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        cpuTime = time.tv_sec * 1_000_000_000 + time.tv_nsec
        let pages = Self.words("/proc/self/statm").dropFirst().first.flatMap { Int($0) } ?? 0
        residentMemory = pages * sysconf(Int32(_SC_PAGESIZE))
        // Without /proc the number is 0, as said above.
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // One of them was the folder itself.
        openDescriptors = max((names?.count ?? 0) - 1, 0)
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        descriptorLimit =
            unsafe getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
    }

    /// When this process started, in nanoseconds since 1970.
    static let startTime: Int = {
        // Behind the name in parentheses, which may hold anything: the 20th word, in clock ticks
        // since the machine started (proc_pid_stat(5), field 22).
        let ticks =
            words("/proc/self/stat", behind: ")").dropFirst(19).first.flatMap { Int($0) } ?? 0
        let boot = text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        let seconds = boot.flatMap { line in Int(line.dropFirst(6)) } ?? 0
        let perSecond = max(sysconf(Int32(_SC_CLK_TCK)), 1)
        return seconds * 1_000_000_000 + ticks * (1_000_000_000 / perSecond)
    }()

    private static func words(_ path: String, behind mark: Character? = nil) -> [Substring] {
        let text = text(path)
        let start = mark.flatMap { mark in text.lastIndex(of: mark) }
        return text[(start.map { text.index(after: $0) } ?? text.startIndex)...]
            .split { character in character == " " || character == "\n" }
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

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
