import CLinux
import Dispatch
import Glibc
import HTTP

// C boundary: the kernel writes at most the stated number of bytes to arrays and structures that live through the call.

/// Sends files on its own threads, because `sendfile` blocks on pages that are not in the page cache, and the
/// loop must not block.
enum FileSender {
    /// The result of one call.
    enum Outcome {
        /// So many bytes were sent. The code is 0, `EAGAIN` or another value of `errno`; a file that is too short
        /// gives `EIO`.
        case sent(Int64, code: Int32)
        /// A block was read for TLS; it is empty when the file cannot be read or is too short.
        case read([UInt8])
    }

    /// The maximum number of bytes of one call; other connections need the thread too (H184).
    private static let callLimit = 4 << 20
    private static let queues = (0..<4).map { number in
        DispatchQueue(label: "parley.files.\(number)", qos: .userInitiated)
    }

    /// The size of a block that is read for TLS; it is in memory until the peer has received it.
    private static let blockSize = 128 << 10

    /// Reads a block from the page cache; `nil` when the disk would be read, or on an error.
    static func readCached(_ file: any FileContent, offset: Int64, length: Int64) -> [UInt8]? {
        let wanted = Int(min(length, Int64(blockSize)))
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            count = unsafe max(
                0, linux_read_cached(file.descriptor, buffer.baseAddress, wanted, off_t(offset)))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Reads a block, then calls `done` on a thread of this type.
    static func read(
        _ file: any FileContent, offset: Int64, length: Int64,
        done: @escaping @Sendable (Outcome) -> Void
    ) {
        queues[Int(file.descriptor) % queues.count].async { @Sendable in
            let wanted = Int(min(length, Int64(blockSize)))
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                while count < wanted {
                    let read = unsafe pread(
                        file.descriptor, buffer.baseAddress.unsafelyUnwrapped + count,
                        wanted - count, off_t(offset) + off_t(count))
                    if read < 0, errno == EINTR { continue }
                    guard read > 0 else {
                        count = 0
                        return
                    }
                    count += read
                }
            }
            done(.read(bytes))
        }
    }

    /// Sends until the socket is full, the limit of a call is reached or the range is complete; then calls
    /// `done` on a thread of this type.
    static func send(
        _ file: any FileContent, offset: Int64, length: Int64, to descriptor: Int32,
        done: @escaping @Sendable (Outcome) -> Void
    ) {
        queues[Int(descriptor) % queues.count].async { @Sendable in
            var position = off_t(offset)
            let end = offset + min(length, Int64(callLimit))
            while Int64(position) < end {
                let count = unsafe sendfile(
                    descriptor, file.descriptor, &position, Int(end - Int64(position)))
                if count > 0 { continue }
                if count < 0, errno == EINTR { continue }
                return done(.sent(Int64(position) - offset, code: count == 0 ? EIO : errno))
            }
            done(.sent(Int64(position) - offset, code: 0))
        }
    }
}
