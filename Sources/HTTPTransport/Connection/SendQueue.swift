import CLinux
import Glibc
import HTTP

/// The output of a connection that is not sent yet: bytes first, then contents in order.
struct SendQueue {
    /// Arrays up to this size are copied behind the queued bytes; larger arrays are queued without copying.
    static let coalescingLimit = 16 << 10

    /// The most arrays that one call sends; a page of 100 messages has 202.
    private static let vectorLimit = 256

    /// The result of an attempt to send.
    enum Progress {
        /// Everything was sent.
        case drained
        /// The socket accepts no more bytes at the moment.
        case blocked
        /// A file is next; files are not sent on the loop.
        case file(any FileContent, offset: Int64, length: Int64)
        /// The connection is broken.
        case broken
    }

    /// The bytes to send first; its storage may be borrowed from the loop.
    private var bytes: [UInt8] = []
    /// Whether the array has other owners, so that its storage must not be reused.
    private var isShared = false
    private var sent = 0
    private var rest: [Content] = []
    private var restCount: Int64 = 0

    /// Whether there is no output.
    var isEmpty: Bool { bytes.isEmpty && rest.isEmpty }

    /// The number of unsent bytes.
    var count: Int64 { Int64(bytes.count - sent) + restCount }

    /// Appends a response.
    mutating func append(_ response: Response, _ framing: ResponseHead.Framing) {
        if rest.isEmpty {
            ResponseHead.append(response, framing, to: &bytes)
        } else {
            // The head must follow a file that is not sent yet.
            var head: [UInt8] = []
            ResponseHead.append(response, framing, to: &head)
            append(head)
        }
        if !framing.answersHead, response.status.allowsContent { append(response.content) }
    }

    /// Appends text.
    mutating func append(_ text: String) {
        if rest.isEmpty {
            bytes.append(contentsOf: text.utf8)
        } else {
            append(Array(text.utf8))
        }
    }

    /// Appends bytes; without copying when the queue is empty or the array is large.
    mutating func append(_ added: [UInt8]) {
        if added.isEmpty { return }
        if bytes.capacity == 0, rest.isEmpty {
            bytes = added
            isShared = true
        } else if rest.isEmpty, added.count <= Self.coalescingLimit {
            removeSentBytes()
            bytes.append(contentsOf: added)
            isShared = false
        } else {
            rest.append(.bytes(added))
            restCount += Int64(added.count)
        }
    }

    /// Appends arrays; without copying unless all together are small.
    private mutating func append(_ pieces: [[UInt8]]) {
        let count = pieces.reduce(0) { sum, piece in sum + piece.count }
        guard count > Self.coalescingLimit else {
            for piece in pieces { append(piece) }
            return
        }
        for piece in pieces where !piece.isEmpty { rest.append(.bytes(piece)) }
        restCount += Int64(count)
    }

    /// Removes sent bytes when they are the larger part of the storage.
    private mutating func removeSentBytes() {
        guard sent > Self.coalescingLimit, sent > bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }

    private mutating func append(_ content: Content) {
        switch content {
        // A stream is sent in parts through its channel.
        case .none, .withheld, .stream: break
        case .bytes(let added): append(added)
        case .pieces(let pieces): append(pieces)
        case .file(_, _, let length):
            if length > 0 {
                rest.append(content)
                restCount += length
            }
        case .parts(let parts): for part in parts { append(part) }
        }
    }

    /// Borrows storage from the loop, unless the queue has some.
    mutating func borrowStorage(from loop: EventLoop) {
        if bytes.capacity == 0 { loop.borrowOutputBuffer(to: &bytes) }
    }

    /// Returns the storage of an empty queue to the loop.
    mutating func returnStorage(to loop: EventLoop) {
        if bytes.capacity > 0 { loop.returnOutputBuffer(from: &bytes) }
    }

    /// Sends as many bytes as the socket accepts, over TLS if there is any.
    mutating func send(to descriptor: Int32, through secure: SecureSocket?) -> Progress {
        while true {
            if secure == nil, case .bytes = rest.first {
                let count = sendVectors(to: descriptor)
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno == EAGAIN ? .blocked : .broken
                }
                advance(by: count)
                continue
            }
            while sent < bytes.count {
                // `MSG_MORE` delays a head until the following content is sent too (H87).
                let flags = Int32(MSG_NOSIGNAL) | (rest.isEmpty ? 0 : Int32(MSG_MORE))
                let start = sent
                // `start` is below the count, and both calls read the bytes only before they return.
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
            clearBytes()
            guard let next = rest.first else {
                if secure?.flush() ?? true { return .drained }
                return errno == EAGAIN ? .blocked : .broken
            }
            switch next {
            case .bytes: moveContentsToBytes()
            case .file(let file, let offset, let length):
                return .file(file, offset: offset, length: length)
            case .none, .withheld, .pieces, .parts, .stream: rest.removeFirst()
            }
        }
    }

    /// Sends the bytes and the arrays after them with one call.
    private func sendVectors(to descriptor: Int32) -> Int {
        var vectors: [iovec] = unsafe []
        unsafe vectors.reserveCapacity(min(rest.count + 1, Self.vectorLimit))
        // Nested, because the address of an array is only valid inside of its closure.
        func addVectors(from index: Int) -> Int {
            guard index < rest.count, unsafe vectors.count < Self.vectorLimit,
                case .bytes(let piece) = rest[index]
            else {
                let flags = Int32(MSG_NOSIGNAL) | (index < rest.count ? Int32(MSG_MORE) : 0)
                let count = unsafe vectors.count
                return unsafe linux_send_vectors(descriptor, &vectors, count, flags)
            }
            return unsafe piece.withUnsafeBytes { piece in
                unsafe vectors.append(iovec(reading: piece))
                return addVectors(from: index + 1)
            }
        }
        guard sent < bytes.count else { return addVectors(from: 0) }
        return unsafe bytes.withUnsafeBytes { all in
            unsafe vectors.append(iovec(reading: UnsafeRawBufferPointer(rebasing: all[sent...])))
            return addVectors(from: 0)
        }
    }

    /// Removes bytes that ``sendVectors(to:)`` has sent.
    private mutating func advance(by count: Int) {
        let unsent = bytes.count - sent
        guard count >= unsent else {
            sent += count
            return
        }
        clearBytes()
        var (left, taken) = (count - unsent, 0)
        while left > 0, case .bytes(let piece) = rest[taken] {
            taken += 1
            restCount -= Int64(piece.count)
            if left < piece.count {
                bytes = piece
                isShared = true
                sent = left
            }
            left -= min(left, piece.count)
        }
        rest.removeFirst(taken)
    }

    private mutating func clearBytes() {
        if isShared {
            bytes = []
            isShared = false
        } else {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
        }
        sent = 0
    }

    /// Moves the first contents to `bytes`, as many as fit into one call.
    private mutating func moveContentsToBytes() {
        var taken = 0
        while taken < rest.count, case .bytes(let added) = rest[taken] {
            if taken == 0 {
                bytes = added
                isShared = true
            } else if bytes.count + added.count <= Self.coalescingLimit {
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

    /// Sends the next bytes of the first file, which were read into memory.
    mutating func sendFileBlock(_ block: [UInt8]) {
        fileAdvanced(by: Int64(block.count))
        bytes = block
        isShared = true
    }

    /// Records that a number of bytes of the first file was sent.
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

extension iovec {
    /// - Parameter bytes: They are only read, although the type of the address is that of bytes to write.
    fileprivate init(reading bytes: UnsafeRawBufferPointer) {
        unsafe self.init(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
