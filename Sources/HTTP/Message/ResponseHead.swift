internal import Bytes

/// Writes the head of a response into a send buffer.
public struct ResponseHead {
    /// What the connection adds to a response.
    public struct Framing: Sendable {
        /// `Date`, as a complete line with CRLF.
        fileprivate var dateLine: [UInt8]
        /// The id in `X-Request-Id`.
        fileprivate var id: RequestID
        /// Whether the request was a `HEAD`, whose response has no content (H68).
        public var answersHead: Bool
        /// Whether the connection closes after this response.
        fileprivate var closes: Bool
        /// Whether the peer uses HTTP/1.0, which needs `Connection: keep-alive` to keep the
        /// connection (H79) and does not support chunks (H90).
        fileprivate var isHTTP10: Bool

        /// Makes a framing.
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

    /// Appends status line, header fields and the empty line.
    ///
    /// Every response whose status allows content is delimited: by `Content-Length`, or for content
    /// of unknown length by chunks or by the end of the connection (H88–H90).
    public static func append(_ response: Response, _ framing: Framing, to buffer: inout [UInt8]) {
        let delimiter = delimiter(of: response, framing)
        // One reservation for everything: the parts of fixed size need less than 256 bytes.
        let size =
            256 + response.status.phrase.utf8CodeUnitCount + framing.dateLine.count
            + response.fields.bytes.count
        let options = connectionOptions(response.status, framing)
        // Captured one by one, because the closure would otherwise copy both structures.
        let status = response.status
        let fields = response.fields.bytes.span
        let dateLine = framing.dateLine.span
        let id = framing.id
        buffer.append(atMost: size) { head in
            // Always version 1.1, also to older peers (H91).
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

    /// How the end of the content is marked.
    private enum Delimiter {
        case none
        case length(Int64)
        case chunks
    }

    /// A function instead of an initializer, which would be passed copies of both.
    private static func delimiter(of response: Response, _ framing: Framing) -> Delimiter {
        // A 304 could carry the length of the corresponding 200; it is optional and left out.
        guard response.status.allowsContent else { return .none }
        switch response.content {
        case .withheld where framing.answersHead: return .none
        // A HEAD has no content, and an older peer does not support chunks: it waits for the close.
        case .stream(_, nil): return framing.answersHead || framing.isHTTP10 ? .none : .chunks
        case .bytes(let bytes): return .length(Int64(bytes.count))
        default: return .length(response.content.length ?? 0)
        }
    }

    private static func connectionOptions(_ status: Status, _ framing: Framing) -> StaticString? {
        switch status.code {
        // The connection changes its protocol, so neither `close` nor `keep-alive` applies.
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

/// The framing of chunked content (RFC 9112 §7.1).
public enum ChunkFraming {
    /// Follows the bytes of every chunk.
    public static let end: [UInt8] = [0x0D, 0x0A]
    /// Ends the content; without it the peer knows that content is missing (H88).
    public static let last: [UInt8] = Array("0\r\n\r\n".utf8)

    /// The line before a chunk of that many bytes, at least one: zero would end the content.
    public static func head(_ count: Int) -> [UInt8] {
        precondition(count > 0)
        return Array("\(String(count, radix: 16))\r\n".utf8)
    }
}
