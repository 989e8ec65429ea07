import CLinux
import Glibc
import HTTP

/// What is still to be sent on a connection: octets first, then contents in order.
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

    /// Octets to send before everything else; empty storage may be lent by the loop.
    var octets: [UInt8] = []
    /// The octets are somebody else's, too: read, never emptied.
    private var isShared = false
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
            append(head)
        }
        if !framing.answersHead, response.status.allowsContent { append(response.content) }
    }

    /// Queues text behind everything else.
    mutating func append(_ text: String) {
        if rest.isEmpty {
            octets.append(contentsOf: text.utf8)
        } else {
            append(Array(text.utf8))
        }
    }

    /// Queues octets behind everything else: the array itself where it would be alone or is long.
    mutating func append(_ added: [UInt8]) {
        if added.isEmpty { return }
        if octets.capacity == 0, rest.isEmpty {
            octets = added
            isShared = true
        } else if rest.isEmpty, added.count <= Self.gathered {
            makeRoom()
            octets.append(contentsOf: added)
            isShared = false
        } else {
            rest.append(.bytes(added))
            restCount += Int64(added.count)
        }
    }

    /// Forgets what has left, before it becomes the larger part of what is kept.
    private mutating func makeRoom() {
        guard sent > Self.gathered, sent > octets.count / 2 else { return }
        octets.removeFirst(sent)
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
            while sent < octets.count {
                // Cork a head until the file behind it follows (H87).
                let flags = Int32(MSG_NOSIGNAL) | (rest.isEmpty ? 0 : Int32(MSG_MORE))
                let start = sent
                let count = unsafe octets.withUnsafeBytes { all in
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
            forgetOctets()
            guard let next = rest.first else {
                if secure?.flush() ?? true { return .drained }
                return errno == EAGAIN ? .blocked : .broken
            }
            switch next {
            case .bytes: takeOctets()
            case .file(let file, let offset, let length):
                return .file(file, offset: offset, length: length)
            case .none, .withheld, .parts, .stream: rest.removeFirst()
            }
        }
    }

    private mutating func forgetOctets() {
        if isShared {
            octets = []
            isShared = false
        } else {
            octets.removeAll(keepingCapacity: octets.capacity <= 64 << 10)
        }
        sent = 0
    }

    /// Takes the octets in front of the rest, and with them those behind that fit into one call.
    private mutating func takeOctets() {
        var taken = 0
        while taken < rest.count, case .bytes(let added) = rest[taken] {
            if taken == 0 {
                octets = added
                isShared = true
            } else if octets.count + added.count <= Self.gathered {
                octets.append(contentsOf: added)
                isShared = false
            } else {
                break
            }
            taken += 1
            restCount -= Int64(added.count)
        }
        rest.removeFirst(taken)
    }

    /// The next octets of the file in front have been read: they leave like any others.
    mutating func fileWasRead(_ block: [UInt8]) {
        fileAdvanced(by: Int64(block.count))
        octets = block
        isShared = true
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
