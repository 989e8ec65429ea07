import CLinux
import Dispatch
import Glibc
import HTTP

/// Sends files from its own threads: a page that is not in memory blocks a `sendfile`, and nothing
/// may block a loop.
enum FileSender {
    /// How one turn ended.
    struct Turn {
        let count: Int64
        /// 0, `EAGAIN`, or what broke; a file that is too short counts as `EIO`.
        let code: Int32
    }

    /// As much as one turn may send; others want the thread, too (H184).
    private static let share = 4 << 20
    private static let queues = (0..<4).map { number in
        DispatchQueue(label: "parley.files.\(number)", qos: .userInitiated)
    }

    /// What is read at a time for TLS; it waits in memory until the peer has taken it.
    private static let block = 128 << 10

    /// Reads a block that lies in memory; `nil` where the disk would be waited for, and for what cannot
    /// be read at all.
    static func readCached(_ file: any FileContent, offset: Int64, length: Int64) -> [UInt8]? {
        let wanted = Int(min(length, Int64(block)))
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { room, count in
            count = unsafe max(
                0, linux_read_cached(file.descriptor, room.baseAddress, wanted, off_t(offset)))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Reads a block for a connection that sends it by itself, then calls back on the pump's thread;
    /// with nothing when the file cannot be read or is too short.
    static func read(
        _ file: any FileContent, offset: Int64, length: Int64,
        done: @escaping @Sendable ([UInt8]) -> Void
    ) {
        queues[Int(file.descriptor) % queues.count].async { @Sendable in
            let wanted = Int(min(length, Int64(block)))
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { room, count in
                while count < wanted {
                    let read = unsafe pread(
                        file.descriptor, room.baseAddress.unsafelyUnwrapped + count,
                        wanted - count, off_t(offset) + off_t(count))
                    if read < 0, errno == EINTR { continue }
                    guard read > 0 else {
                        count = 0
                        return
                    }
                    count += read
                }
            }
            done(bytes)
        }
    }

    /// Sends until the socket is full, the share is used up or the range is done; then calls back on
    /// the pump's thread.
    static func send(
        _ file: any FileContent, offset: Int64, length: Int64, to descriptor: Int32,
        done: @escaping @Sendable (Turn) -> Void
    ) {
        queues[Int(descriptor) % queues.count].async { @Sendable in
            var place = off_t(offset)
            let end = offset + min(length, Int64(share))
            while Int64(place) < end {
                let count = unsafe sendfile(
                    descriptor, file.descriptor, &place, Int(end - Int64(place)))
                if count > 0 { continue }
                if count < 0, errno == EINTR { continue }
                return done(Turn(count: Int64(place) - offset, code: count == 0 ? EIO : errno))
            }
            done(Turn(count: Int64(place) - offset, code: 0))
        }
    }
}
