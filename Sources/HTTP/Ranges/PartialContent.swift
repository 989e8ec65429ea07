/// The content of a 206 and the fields that describe it (RFC 9110 §15.3.7, H110).
public struct PartialContent: Sendable {
    /// A piece of the content.
    public enum Piece: Sendable, Equatable {
        /// The head of a part, or the end of the last one.
        case head([UInt8])
        /// A range of the whole content.
        case range(Range<Int64>)
    }

    /// The value of `Content-Type`.
    public let mediaType: String
    /// The value of `Content-Range`; `nil` for several ranges, where each part has its own.
    public let contentRange: String?
    /// The pieces in order: the ranges, and the heads of parts if there are several.
    public let pieces: [Piece]

    /// Selects ranges of a content.
    ///
    /// - Parameters:
    ///   - ranges: At least one, none of them empty.
    ///   - size: The size of the whole content in bytes.
    ///   - mediaType: The type of the whole content.
    ///   - generator: Makes the boundary between parts. It is random for each response, so that
    ///     stored content cannot contain it.
    public init(
        _ ranges: [Range<Int64>], of size: Int64, _ mediaType: String,
        using generator: inout some RandomNumberGenerator
    ) {
        func field(_ range: Range<Int64>) -> String {
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        }
        if let only = ranges.first, ranges.count == 1 {
            self.mediaType = mediaType
            contentRange = field(only)
            pieces = [.range(only)]
            return
        }
        let boundary = Self.boundary(using: &generator)
        var pieces: [Piece] = []
        for (number, range) in ranges.enumerated() {
            let head = """
                \(number == 0 ? "" : "\r\n")--\(boundary)\r
                Content-Type: \(mediaType)\r
                Content-Range: \(field(range))\r
                \r

                """
            pieces.append(.head(Array(head.utf8)))
            pieces.append(.range(range))
        }
        pieces.append(.head(Array("\r\n--\(boundary)--\r\n".utf8)))
        self.pieces = pieces
        self.mediaType = "multipart/byteranges; boundary=\(boundary)"
        contentRange = nil
    }

    /// The response content, given the content of each range.
    public func content(_ slice: (Range<Int64>) -> Content) -> Content {
        let contents = pieces.map { piece in
            switch piece {
            case .head(let bytes): Content.bytes(bytes)
            case .range(let range): slice(range)
            }
        }
        return contents.count == 1 ? contents[0] : .parts(contents)
    }

    /// The size in bytes.
    public var length: Int64 {
        pieces.reduce(0) { sum, piece in
            switch piece {
            case .head(let bytes): sum + Int64(bytes.count)
            case .range(let range): sum + Int64(range.count)
            }
        }
    }

    /// 28 characters of a token, 168 random bits.
    private static func boundary(using generator: inout some RandomNumberGenerator) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let characters = (0..<28).map { _ in alphabet[Int(generator.next(upperBound: UInt(64)))] }
        return String(decoding: characters, as: UTF8.self)
    }
}
