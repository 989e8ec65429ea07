import Glibc
import HTTP

/// The clocks of an event loop, read once at the start of each turn, and the header lines that state the time.
struct LoopClock {
    /// The monotonic clock, in nanoseconds.
    private(set) var nanoseconds: Int64
    /// The monotonic clock, in milliseconds.
    private(set) var milliseconds: Int64
    /// The wall clock, in milliseconds since 1970.
    private(set) var wallClock: UInt64 = 0
    /// The `Date` header line, updated once a second (H93).
    private(set) var dateLine: [UInt8] = []
    /// The header lines of TLS connections: `Date` and `Strict-Transport-Security` (H125).
    private(set) var secureDateLine: [UInt8] = []
    /// The `Strict-Transport-Security` header line; empty without it. Set before the start.
    var strictTransportLine: [UInt8] = []
    /// The second of both date lines.
    private var dateSecond: Int64 = 0

    /// Reads the monotonic clock only.
    init() {
        nanoseconds = MonotonicClock.nanoseconds
        milliseconds = nanoseconds / 1_000_000
    }

    /// Reads both clocks.
    mutating func update() {
        nanoseconds = MonotonicClock.nanoseconds
        milliseconds = nanoseconds / 1_000_000
        var time = timespec()
        // The structure lives through the call.
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        wallClock = UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec / 1_000_000)
        let second = Int64(time.tv_sec)
        if second != dateSecond {
            dateSecond = second
            dateLine = Array("Date: \(HTTPDate.format(second))\r\n".utf8)
            secureDateLine = dateLine + strictTransportLine
        }
    }
}

/// The monotonic clock for all deadlines, not affected by changes of the wall clock (H180).
enum MonotonicClock {
    /// Nanoseconds since an arbitrary time.
    static var nanoseconds: Int64 {
        var time = timespec()
        // The structure lives through the call.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Milliseconds since the same time.
    static var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
