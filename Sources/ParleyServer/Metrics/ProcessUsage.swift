import FoundationEssentials
import Glibc

/// The resources that this process uses, as reported by the kernel; 0 if unknown.
struct ProcessUsage {
    /// Processor time of all threads, in nanoseconds.
    let cpuTime: Int
    /// Resident memory in bytes.
    let residentMemory: Int
    /// Open file descriptors.
    let openDescriptors: Int
    /// The limit of open file descriptors.
    let descriptorLimit: Int

    /// Reads the usage; this reads two small files of the kernel and takes microseconds.
    init() {
        cpuTime = Self.cpuTime
        let pages = Self.words("/proc/self/statm").dropFirst().first.flatMap { Int($0) } ?? 0
        residentMemory = pages * sysconf(Int32(_SC_PAGESIZE))
        // Without /proc the number is 0.
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // One of them was the folder itself.
        openDescriptors = max((names?.count ?? 0) - 1, 0)
        // The structure lives through the call.
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        descriptorLimit =
            unsafe getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
    }

    /// Processor time of all threads until now, in nanoseconds.
    static var cpuTime: Int {
        var time = timespec()
        // The structure lives through the call.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// When this process started, in nanoseconds since 1970.
    static let startTime: Int = {
        // The name in parentheses may contain anything, so count from after it: the 20th word, in
        // clock ticks since boot (proc_pid_stat(5), field 22).
        let ticks =
            words("/proc/self/stat", after: ")").dropFirst(19).first.flatMap { Int($0) } ?? 0
        let boot = text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        let seconds = boot.flatMap { line in Int(line.dropFirst(6)) } ?? 0
        let perSecond = max(sysconf(Int32(_SC_CLK_TCK)), 1)
        return seconds * 1_000_000_000 + ticks * (1_000_000_000 / perSecond)
    }()

    private static func words(_ path: String, after mark: Character? = nil) -> [Substring] {
        let text = text(path)
        let start = mark.flatMap { mark in text.lastIndex(of: mark) }
        return text[(start.map { text.index(after: $0) } ?? text.startIndex)...]
            .split { character in character == " " || character == "\n" }
    }

    /// The text of a file of the kernel; empty when it cannot be read.
    ///
    /// `FileManager` stops at the first read that returns fewer bytes than requested, but the kernel returns `smaps`
    /// a few mappings at a time.
    static func text(_ path: String) -> String {
        // Path and array live through the calls, and the array has that many bytes.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += piece[..<count]
        }
    }
}
