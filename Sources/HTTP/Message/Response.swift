/// A response: status, header fields, content, and what happens to the connection.
public struct Response: Sendable {
    /// What happens to the connection after the response.
    public enum Ending: Sendable {
        /// It may serve the next request, if the request's body allows that (H92).
        case keep
        /// It is closed in order after `Connection: close` (H96).
        case close
        /// It is closed without a response, as when a newer request took over an upload.
        case drop
    }

    /// The status.
    public var status: Status
    /// Header fields besides those that frame the message.
    public var fields: ResponseFields
    /// The content.
    public var content: Content
    /// What happens to the connection.
    public var ending: Ending
    /// Application and token of the request, for logs; `nil` without valid credentials.
    public var owner: RequestOwner?

    /// Makes a response.
    public init(
        _ status: Status, fields: ResponseFields = ResponseFields(), content: Content = .none,
        ending: Ending = .keep
    ) {
        self.status = status
        self.fields = fields
        self.content = content
        self.ending = ending
    }

    /// Makes a response with content of a media type.
    public init(_ status: Status, _ mediaType: String, _ bytes: [UInt8], ending: Ending = .keep) {
        self.init(status, content: .bytes(bytes), ending: ending)
        fields.add("Content-Type", mediaType)
    }

    /// No response: the connection is closed.
    public static let dropped = Response(.internalServerError, ending: .drop)
}

/// The content of a response.
public enum Content: Sendable {
    /// None; `Content-Length: 0` is sent where the status allows content.
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// Bytes in memory, in several arrays that are sent without copying them.
    case pieces([[UInt8]])
    /// A range of an open file, sent by the kernel.
    ///
    /// Indirect, like other rare cases, because every response is as large as the largest inline
    /// case.
    indirect case file(any FileContent, offset: Int64, length: Int64)
    /// Several contents in a row (`multipart/byteranges`).
    case parts([Content])
    /// Content that its handler writes over time until it finishes the channel.
    ///
    /// With a known length it is sent with `Content-Length`, and a handler that writes another
    /// number of bytes aborts the connection; otherwise it is chunked, or ended by closing the
    /// connection for an HTTP/1.0 peer (H88, H90).
    ///
    /// Not allowed inside ``parts(_:)``, where it is ignored.
    indirect case stream(any ByteChannelHandler, length: Int64? = nil)
    /// The response to a `HEAD` without a `Content-Length`.
    case withheld

    /// The number of bytes, as in `Content-Length`; `nil` when unknown.
    public var length: Int64? {
        switch self {
        case .none, .withheld: 0
        case .stream(_, let length): length
        case .bytes(let bytes): Int64(bytes.count)
        case .pieces(let pieces): pieces.reduce(0) { sum, piece in sum + Int64(piece.count) }
        case .file(_, _, let length): length
        case .parts(let parts): parts.reduce(0) { sum, part in sum + (part.length ?? 0) }
        }
    }

    /// The bytes of ``bytes(_:)`` or ``pieces(_:)`` in one array; `nil` for other contents.
    public var joinedBytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): return bytes
        case .pieces(let pieces):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(pieces.reduce(0) { sum, piece in sum + piece.count })
            for piece in pieces { bytes.append(contentsOf: piece) }
            return bytes
        case .none, .file, .parts, .stream, .withheld: return nil
        }
    }
}

/// An open file whose bytes do not change while the object exists.
///
/// The descriptor stays open until the object is deallocated.
public protocol FileContent: AnyObject, Sendable {
    /// A readable descriptor of a regular file.
    var descriptor: Int32 { get }
}

/// The header fields of a response in their wire format.
///
/// Framing and connection fields (`Content-Length`, `Transfer-Encoding`, `Connection`, `Date`,
/// `X-Request-Id`, `X-Content-Type-Options`) are written by ``ResponseHead`` and must not be added
/// here.
public struct ResponseFields: Sendable {
    /// `name: value CRLF`, repeated.
    public private(set) var bytes: [UInt8] = []
    /// False once an invalid value was added; the response then becomes a 500 (H32).
    public private(set) var isValid = true

    /// No fields.
    public init() {}

    /// Fields from the stored ``bytes`` of an earlier response.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Appends a field line.
    ///
    /// - Parameter value: Visible ASCII, blanks, tabs and bytes above 0x7F. A control character
    ///   makes the whole response invalid, so that CR and LF never get into the header (H32).
    public mutating func add(_ name: FieldName, _ value: String) {
        let text = value.utf8
        let span = text.span
        for index in span.indices {
            let byte = span[index]
            if byte < 0x20 && byte != 0x09 || byte == 0x7F { isValid = false }
        }
        add(name) { bytes in bytes.append(contentsOf: text) }
    }

    /// Appends a field line whose value `write` appends; it must be visible ASCII and blanks.
    mutating func add(_ name: FieldName, _ write: (inout [UInt8]) -> Void) {
        // Enough for several fields without growing.
        if bytes.isEmpty { bytes.reserveCapacity(256) }
        unsafe bytes.append(
            contentsOf: UnsafeBufferPointer(
                start: name.text.utf8Start, count: name.text.utf8CodeUnitCount))
        bytes.append(0x3A)
        bytes.append(0x20)
        write(&bytes)
        bytes.append(0x0D)
        bytes.append(0x0A)
    }

    /// Replaces the value of every field line of a name.
    mutating func replace(_ name: FieldName, _ transform: (String) -> String) {
        let name = Array("\(name): ".utf8)
        bytes = bytes.split(separator: 0x0A).flatMap { line -> [UInt8] in
            guard line.starts(with: name) else { return line + [0x0A] }
            let value = line.dropFirst(name.count).dropLast()
            let other = transform(String(decoding: value, as: UTF8.self))
            return name + Array(other.utf8) + [0x0D, 0x0A]
        }
    }

    /// The fields as name and value, for tests.
    public var all: [(name: String, value: String)] {
        bytes.split(separator: 0x0A).map { line in
            let line = line.last == 0x0D ? line.dropLast() : line
            let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
            return (
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: line[colon...].dropFirst(2), as: UTF8.self)
            )
        }
    }

    /// The value of the first field of that name, ignoring case; for tests.
    public subscript(name: FieldName) -> String? {
        all.first { field in field.name.lowercased() == name.description.lowercased() }?.value
    }
}
