/// Writes the head of a response straight into a send buffer.
public struct ResponseHead {
    /// What the connection contributes to a response.
    public struct Framing: Sendable {
        /// `Date`, as a complete line with CRLF.
        public var dateLine: [UInt8]
        /// Names the request.
        public var id: RequestID
        /// Whether the request was a `HEAD`, whose answer has no content (H68).
        public var answersHead: Bool
        /// Whether the connection closes after this answer.
        public var closes: Bool
        /// Whether the peer speaks HTTP/1.0: it must be told that the connection stays (H79), and
        /// knows no chunks (H90).
        public var isHTTP10: Bool

        /// Puts it together.
        public init(
            dateLine: [UInt8], id: RequestID, answersHead: Bool, closes: Bool, isHTTP10: Bool
        ) {
            self.dateLine = dateLine
            self.id = id
            self.answersHead = answersHead
            self.closes = closes
            self.isHTTP10 = isHTTP10
        }
    }

    /// Appends status line and fields, the empty line included.
    ///
    /// Every response whose status allows content is delimited: by `Content-Length`, or where nobody
    /// knows the length by chunks, or by the end of the connection (H88–H90).
    public static func append(_ response: Response, _ framing: Framing, to buffer: inout [UInt8]) {
        let delimiter = delimiter(of: response, framing)
        // Room for everything at once: 256 octets are more than the parts of fixed size can fill.
        let size =
            256 + response.status.phrase.utf8CodeUnitCount + framing.dateLine.count
            + response.fields.octets.count
        if buffer.capacity - buffer.count < size {
            buffer.reserveCapacity(max(buffer.count + size, 2 * buffer.capacity))
        }
        let options = connectionOptions(response.status, framing)
        // What is written is named one by one: the closure would take copies of the two as a whole.
        let status = response.status
        let fields = response.fields.octets.span
        let dateLine = framing.dateLine.span
        let id = framing.id
        buffer.append(addingCapacity: size) { (head: inout OutputSpan<UInt8>) in
            // Always version 1.1, also to an older peer (H91).
            head.append("HTTP/1.1 ")
            head.append(decimal: UInt64(status.code.magnitude))
            head.append(.sp)
            head.append(status.phrase)
            head.append("\r\n")
            head.append(dateLine)
            head.append("X-Request-Id: ")
            id.append(to: &head)
            head.append("\r\nX-Content-Type-Options: nosniff\r\n")
            head.append(fields)
            switch delimiter {
            case .none: break
            case .length(let length):
                head.append("Content-Length: ")
                head.append(decimal: length.magnitude)
                head.append("\r\n")
            case .chunks: head.append("Transfer-Encoding: chunked\r\n")
            }
            if let options { head.append(options) }
            head.append("\r\n")
        }
    }

    /// How the end of a content is known.
    private enum Delimiter {
        case none
        case length(Int64)
        case chunks
    }

    /// A function and not an initialiser, which would be handed copies of both.
    private static func delimiter(of response: Response, _ framing: Framing) -> Delimiter {
        // A 304 may state the length of the 200 it stands for; it is simpler never to.
        guard response.status.allowsContent else { return .none }
        switch response.content {
        case .withheld where framing.answersHead: return .none
        // A HEAD waits for no stream, and an older peer knows no chunks: it waits for the close.
        case .stream: return framing.answersHead || framing.isHTTP10 ? .none : .chunks
        case .bytes(let octets): return .length(Int64(octets.count))
        default: return .length(response.content.length ?? 0)
        }
    }

    private static func connectionOptions(_ status: Status, _ framing: Framing) -> StaticString? {
        switch status.code {
        // Whether the connection stays is no question any more.
        case 101: "Connection: Upgrade\r\n"
        case 426: framing.closes ? "Connection: Upgrade, close\r\n" : "Connection: Upgrade\r\n"
        default:
            if framing.closes {
                "Connection: close\r\n"
            } else if framing.isHTTP10 {
                "Connection: keep-alive\r\n"
            } else {
                nil
            }
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends text that lives as long as the program.
    ///
    /// Inlined, as the next ones: a copy of known length is a few moves.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends octets.
    @inline(__always)
    mutating func append(_ octets: Span<UInt8>) {
        unsafe octets.withUnsafeBufferPointer { octets in unsafe append(octets) }
    }

    /// The only place that copies without looking at each octet: what does not fit traps.
    @inline(__always)
    private mutating func append(_ octets: UnsafeBufferPointer<UInt8>) {
        precondition(octets.count <= freeCapacity)
        guard let source = octets.baseAddress else { return }
        unsafe withUnsafeMutableBufferPointer { storage, count in
            guard let start = storage.baseAddress else { return }
            unsafe (start + count).initialize(from: source, count: octets.count)
            count += octets.count
        }
    }

    /// Appends a number without making a string.
    mutating func append(decimal number: UInt64) {
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        precondition(digits <= freeCapacity)
        unsafe withUnsafeMutableBufferPointer { storage, count in
            // From the last digit to the first, each at its place.
            var place = count + digits
            count = place
            var rest = number
            repeat {
                place -= 1
                unsafe storage[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
        }
    }
}
