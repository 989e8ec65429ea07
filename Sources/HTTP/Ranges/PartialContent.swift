/// The content of a 206 and the fields that describe it (RFC 9110 §15.3.7, H110).
public struct PartialContent: Sendable {
    /// A piece of it.
    public enum Piece: Sendable, Equatable {
        /// The head of a part, or what ends the last one.
        case head([UInt8])
        /// Bytes of the content.
        case range(Range<Int64>)
    }

    /// The value of `Content-Type`.
    public let mediaType: String
    /// The value of `Content-Range`; `nil` for several ranges, each of which says its own.
    public let contentRange: String?
    /// What is sent, in order: the ranges, with the heads of the parts where there are several.
    public let pieces: [Piece]

    /// Cuts ranges out of a content.
    ///
    /// - Parameters:
    ///   - ranges: At least one, none of them empty.
    ///   - size: Bytes of the whole content.
    ///   - mediaType: Of the whole content.
    ///   - generator: Where the boundary between parts comes from. It is made anew for each answer,
    ///     so nobody can have stored a content that holds it.
    public init(
        _ ranges: [Range<Int64>], of size: Int64, _ mediaType: String,
        using generator: inout some RandomNumberGenerator
    ) {
        func place(_ range: Range<Int64>) -> String {
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        }
        if let only = ranges.first, ranges.count == 1 {
            self.mediaType = mediaType
            contentRange = place(only)
            pieces = [.range(only)]
            return
        }
        let boundary = Self.boundary(using: &generator)
        var pieces: [Piece] = []
        for (number, range) in ranges.enumerated() {
            let head = """
                \(number == 0 ? "" : "\r\n")--\(boundary)\r
                Content-Type: \(mediaType)\r
                Content-Range: \(place(range))\r
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

    /// The bytes, where those of a range are at hand.
    public func content(_ slice: (Range<Int64>) -> Content) -> Content {
        let contents = pieces.map { piece in
            switch piece {
            case .head(let bytes): Content.bytes(bytes)
            case .range(let range): slice(range)
            }
        }
        return contents.count == 1 ? contents[0] : .parts(contents)
    }

    /// How many bytes that are.
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
