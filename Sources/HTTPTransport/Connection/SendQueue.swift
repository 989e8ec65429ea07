import CLinux
import Glibc
import HTTP

/// What is still to be sent on a connection: octets first, then contents in order.
struct SendQueue {
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

    /// Octets to send before everything else; empty storage may be lent by the loop.
    var octets: [UInt8] = []
    private var sent = 0
    private var rest: [Content] = []
    private var restCount: Int64 = 0

    /// Nothing waits.
    var isEmpty: Bool { octets.isEmpty && rest.isEmpty }

    /// How many octets wait.
    var count: Int64 { Int64(octets.count - sent) + restCount }

    /// Queues a response behind everything else.
    mutating func append(_ response: Response, _ framing: ResponseHead.Framing) {
        if rest.isEmpty {
            ResponseHead.append(response, framing, to: &octets)
        } else {
            // Behind a file that has not left yet, never in front of it.
            var head: [UInt8] = []
            ResponseHead.append(response, framing, to: &head)
            append(.bytes(head))
        }
        if !framing.answersHead, response.status.allowsContent { append(response.content) }
    }

    /// Queues text behind everything else.
    mutating func append(_ text: String) {
        if rest.isEmpty {
            octets.append(contentsOf: text.utf8)
        } else {
            append(.bytes(Array(text.utf8)))
        }
    }

    private mutating func append(_ content: Content) {
        switch content {
        case .none, .withheld: break
        case .bytes(let added):
            if rest.isEmpty {
                octets.append(contentsOf: added)
            } else {
                rest.append(content)
                restCount += Int64(added.count)
            }
        case .file(_, _, let length):
            if length > 0 {
                rest.append(content)
                restCount += length
            }
        case .parts(let parts): for part in parts { append(part) }
        }
    }

    /// Sends as much as the socket takes.
    mutating func send(to descriptor: Int32) -> Progress {
        while true {
            while sent < octets.count {
                // Cork a head until the file behind it follows (H87).
                let flags = Int32(MSG_NOSIGNAL) | (rest.isEmpty ? 0 : Int32(MSG_MORE))
                let start = sent
                let count = unsafe octets.withUnsafeBytes { all in
                    unsafe linux_send(
                        descriptor, all.baseAddress.unsafelyUnwrapped + start, all.count - start,
                        flags)
                }
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno == EAGAIN ? .blocked : .broken
                }
                sent += count
            }
            octets.removeAll(keepingCapacity: octets.capacity <= 64 << 10)
            sent = 0
            guard let next = rest.first else { return .drained }
            switch next {
            case .bytes(let added):
                octets = added
                restCount -= Int64(added.count)
                rest.removeFirst()
            case .file(let file, let offset, let length):
                return .file(file, offset: offset, length: length)
            case .none, .withheld, .parts: rest.removeFirst()
            }
        }
    }

    /// Notes that so many octets of the file in front have left.
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
