import Glibc

extension LogSink {
    /// A sink that writes to a descriptor, such as 2, the standard error.
    public convenience init(descriptor: Int32, capacity: Int = LogSink.defaultCapacity) {
        self.init(capacity: capacity) { lines in Self.write(lines, to: descriptor) }
    }

    /// Writes everything, waiting where the descriptor does not block by itself.
    private static func write(_ lines: [UInt8], to descriptor: Int32) -> Bool {
        var rest = lines[...]
        while !rest.isEmpty {
            // Holds because the pointer is only used during the call and the count is the slice's.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&wait, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The wall clock, in milliseconds since 1970 UTC.
@Sendable public func systemMilliseconds() -> Int64 {
    var time = timespec()
    // Cannot fail: the clock exists and the address is valid during the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
