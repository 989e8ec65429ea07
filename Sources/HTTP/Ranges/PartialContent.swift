/// The content of a 206 and the fields that describe it (RFC 9110 §15.3.7, H110).
public struct PartialContent: Sendable {
    /// The value of `Content-Type`.
    public let mediaType: String
    /// The value of `Content-Range`; `nil` for several ranges, each of which says its own.
    public let contentRange: String?
    /// The octets, with the heads of the parts where there are several.
    public let content: Content

    /// Cuts ranges out of a content.
    ///
    /// - Parameters:
    ///   - ranges: At least one, none of them empty.
    ///   - size: Octets of the whole content.
    ///   - mediaType: Of the whole content.
    ///   - generator: Where the boundary between parts comes from. It is made anew for each answer,
    ///     so nobody can have stored a content that holds it.
    ///   - slice: The octets of a range.
    public init(
        _ ranges: [Range<Int64>], of size: Int64, _ mediaType: String,
        using generator: inout some RandomNumberGenerator, slice: (Range<Int64>) -> Content
    ) {
        func place(_ range: Range<Int64>) -> String {
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        }
        if let only = ranges.first, ranges.count == 1 {
            self.mediaType = mediaType
            contentRange = place(only)
            content = slice(only)
            return
        }
        let boundary = Self.boundary(using: &generator)
        var parts: [Content] = []
        for (number, range) in ranges.enumerated() {
            let head = """
                \(number == 0 ? "" : "\r\n")--\(boundary)\r
                Content-Type: \(mediaType)\r
                Content-Range: \(place(range))\r
                \r

                """
            parts.append(.bytes(Array(head.utf8)))
            parts.append(slice(range))
        }
        parts.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
        self.mediaType = "multipart/byteranges; boundary=\(boundary)"
        contentRange = nil
        content = .parts(parts)
    }

    /// 28 characters of a token, 168 random bits.
    private static func boundary(using generator: inout some RandomNumberGenerator) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let characters = (0..<28).map { _ in alphabet[Int(generator.next(upperBound: UInt(64)))] }
        return String(decoding: characters, as: UTF8.self)
    }
}
