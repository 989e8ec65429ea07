/// An answer: status, fields, content, and what becomes of the connection.
public struct Response: Sendable {
    /// What becomes of the connection after this answer.
    public enum Ending: Sendable {
        /// It serves the next request, if the request's body allows that (H92).
        case keep
        /// `Connection: close`, then an orderly close (H96).
        case close
        /// It is closed without an answer, as when a newer request took an upload over.
        case drop
    }

    /// The status.
    public var status: Status
    /// Fields beside those that frame the message.
    public var fields: ResponseFields
    /// The content.
    public var content: Content
    /// What becomes of the connection.
    public var ending: Ending
    /// On whose account the request was made, for logs; `nil` without a valid credential.
    public var owner: RequestOwner?

    /// Makes an answer.
    public init(
        _ status: Status, fields: ResponseFields = ResponseFields(), content: Content = .none,
        ending: Ending = .keep
    ) {
        self.status = status
        self.fields = fields
        self.content = content
        self.ending = ending
    }

    /// Makes an answer with a body of a media type.
    public init(_ status: Status, _ mediaType: String, _ bytes: [UInt8], ending: Ending = .keep) {
        self.init(status, content: .bytes(bytes), ending: ending)
        fields.add("Content-Type", mediaType)
    }

    /// No answer at all: the connection is closed.
    public static let dropped = Response(.internalServerError, ending: .drop)
}

/// What a response carries after its head.
public enum Content: Sendable {
    /// Nothing; `Content-Length: 0` is stated where the status allows content.
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of an open file, sent by the kernel.
    ///
    /// Kept apart, as everything that is rare: every answer is as large as the largest content.
    indirect case file(any FileContent, offset: Int64, length: Int64)
    /// Several of these, one after another (`multipart/byteranges`).
    case parts([Content])
    /// Bytes that come as time goes by, written by its handler until that one finishes.
    ///
    /// Of a length that is known they are stated in `Content-Length`, and a handler that writes
    /// another number breaks the connection; otherwise they are chunked, or delimited by the end of
    /// the connection for an HTTP/1.0 peer (H88, H90).
    ///
    /// Stands alone: among ``parts(_:)`` it is left out.
    indirect case stream(any ByteChannelHandler, length: Int64? = nil)
    /// The answer to a `HEAD` whose length is not stated at all.
    case withheld

    /// The number of bytes, stated in `Content-Length`; `nil` when only the end tells.
    public var length: Int64? {
        switch self {
        case .none, .withheld: 0
        case .stream(_, let length): length
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length): length
        case .parts(let parts): parts.reduce(0) { sum, part in sum + (part.length ?? 0) }
        }
    }
}

/// An open file whose bytes never change while somebody holds it.
///
/// The descriptor stays open for as long as the object lives.
public protocol FileContent: AnyObject, Sendable {
    /// A readable descriptor of a regular file.
    var descriptor: Int32 { get }
}

/// The header fields of a response, kept as the bytes that go on the wire.
///
/// Framing and connection fields (`Content-Length`, `Transfer-Encoding`, `Connection`, `Date`,
/// `X-Request-Id`, `X-Content-Type-Options`) are written by the serialiser and not added here.
public struct ResponseFields: Sendable {
    /// `name: value CRLF`, repeated.
    public private(set) var bytes: [UInt8] = []
    /// False once a value was added that no header may carry; the response then becomes a 500 (H32).
    public private(set) var isValid = true

    /// No fields.
    public init() {}

    /// The fields of an answer given before, as ``bytes`` said them then.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Appends a field line.
    ///
    /// - Parameter value: Visible ASCII, blanks, tabs and bytes above 0x7F; a control character
    ///   makes the whole response invalid, so that CR and LF never reach the wire (H32).
    public mutating func add(_ name: FieldName, _ value: String) {
        let text = value.utf8
        let span = text.span
        for place in span.indices {
            let byte = span[place]
            if byte < 0x20 && byte != 0x09 || byte == 0x7F { isValid = false }
        }
        add(name) { bytes in bytes.append(contentsOf: text) }
    }

    /// Appends a field line whose value is written in place; it must be visible ASCII and blanks.
    mutating func add(_ name: FieldName, _ write: (inout [UInt8]) -> Void) {
        // A handful of fields, without growing for each.
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

    /// Gives every field line of a name another value.
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

    /// The value of the first field of that name, compared without case; for tests.
    public subscript(name: FieldName) -> String? {
        all.first { field in field.name.lowercased() == name.description.lowercased() }?.value
    }
}
