import CLinux
import Glibc
import HTTP

/// What is still to be sent on a connection: bytes first, then contents in order.
struct SendQueue {
    /// What is at most this long is copied behind what waits; longer arrays wait as they are.
    static let gathered = 16 << 10

    /// How a try to send ended.
    enum Progress {
        /// Everything has left.
        case drained
        /// The socket takes no more for now.
        case blocked
        /// A file's turn has come, which is not sent on the loop.
        case file(any FileContent, offset: Int64, length: Int64)
        /// The connection is broken.
        case broken
    }

    /// Bytes to send before everything else; empty storage may be lent by the loop.
    var bytes: [UInt8] = []
    /// The bytes are somebody else's, too: read, never emptied.
    private var isShared = false
    private var sent = 0
    private var rest: [Content] = []
    private var restCount: Int64 = 0

    /// Nothing waits.
    var isEmpty: Bool { bytes.isEmpty && rest.isEmpty }

    /// How many bytes wait.
    var count: Int64 { Int64(bytes.count - sent) + restCount }

    /// Queues a response behind everything else.
    mutating func append(_ response: Response, _ framing: ResponseHead.Framing) {
        if rest.isEmpty {
            ResponseHead.append(response, framing, to: &bytes)
        } else {
            // Behind a file that has not left yet, never in front of it.
            var head: [UInt8] = []
            ResponseHead.append(response, framing, to: &head)
            append(head)
        }
        if !framing.answersHead, response.status.allowsContent { append(response.content) }
    }

    /// Queues text behind everything else.
    mutating func append(_ text: String) {
        if rest.isEmpty {
            bytes.append(contentsOf: text.utf8)
        } else {
            append(Array(text.utf8))
        }
    }

    /// Queues bytes behind everything else: the array itself where it would be alone or is long.
    mutating func append(_ added: [UInt8]) {
        if added.isEmpty { return }
        if bytes.capacity == 0, rest.isEmpty {
            bytes = added
            isShared = true
        } else if rest.isEmpty, added.count <= Self.gathered {
            makeRoom()
            bytes.append(contentsOf: added)
            isShared = false
        } else {
            rest.append(.bytes(added))
            restCount += Int64(added.count)
        }
    }

    /// Forgets what has left, before it becomes the larger part of what is kept.
    private mutating func makeRoom() {
        guard sent > Self.gathered, sent > bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }

    private mutating func append(_ content: Content) {
        switch content {
        // A stream comes piece by piece, through its line.
        case .none, .withheld, .stream: break
        case .bytes(let added): append(added)
        case .file(_, _, let length):
            if length > 0 {
                rest.append(content)
                restCount += length
            }
        case .parts(let parts): for part in parts { append(part) }
        }
    }

    /// Sends as much as the socket takes, through TLS where there is any.
    mutating func send(to descriptor: Int32, through secure: SecureSocket?) -> Progress {
        while true {
            while sent < bytes.count {
                // Cork a head until the file behind it follows (H87).
                let flags = Int32(MSG_NOSIGNAL) | (rest.isEmpty ? 0 : Int32(MSG_MORE))
                let start = sent
                let count = unsafe bytes.withUnsafeBytes { all in
                    let rest = unsafe all.baseAddress.unsafelyUnwrapped + start
                    guard let secure else {
                        return unsafe linux_send(descriptor, rest, all.count - start, flags)
                    }
                    return unsafe secure.send(rest, all.count - start, flags: flags)
                }
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno == EAGAIN ? .blocked : .broken
                }
                sent += count
            }
            forgetBytes()
            guard let next = rest.first else {
                if secure?.flush() ?? true { return .drained }
                return errno == EAGAIN ? .blocked : .broken
            }
            switch next {
            case .bytes: takeBytes()
            case .file(let file, let offset, let length):
                return .file(file, offset: offset, length: length)
            case .none, .withheld, .parts, .stream: rest.removeFirst()
            }
        }
    }

    private mutating func forgetBytes() {
        if isShared {
            bytes = []
            isShared = false
        } else {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
        }
        sent = 0
    }

    /// Takes the bytes in front of the rest, and with them those behind that fit into one call.
    private mutating func takeBytes() {
        var taken = 0
        while taken < rest.count, case .bytes(let added) = rest[taken] {
            if taken == 0 {
                bytes = added
                isShared = true
            } else if bytes.count + added.count <= Self.gathered {
                bytes.append(contentsOf: added)
                isShared = false
            } else {
                break
            }
            taken += 1
            restCount -= Int64(added.count)
        }
        rest.removeFirst(taken)
    }

    /// The next bytes of the file in front have been read: they leave like any others.
    mutating func fileWasRead(_ block: [UInt8]) {
        fileAdvanced(by: Int64(block.count))
        bytes = block
        isShared = true
    }

    /// Notes that so many bytes of the file in front have left.
    mutating func fileAdvanced(by count: Int64) {
        guard case .file(let file, let offset, let length) = rest.first else { return }
        restCount -= count
        if count >= length {
            rest.removeFirst()
        } else {
            rest[0] = .file(file, offset: offset + count, length: length - count)
        }
    }
}
