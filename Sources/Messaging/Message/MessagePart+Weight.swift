extension MessagePart {
    /// Bytes an answer that shows it holds, about: what it says, and its names and URLs.
    public var weight: Int64 {
        let said: Int64 =
            switch body {
            case .inline(let bytes): Int64(bytes.count)
            case .content: 0
            }
        return said + Int64(mimeType.unicodeScalars.count) + Self.frame
    }

    /// What stands around a part in an answer, about.
    public static let frame: Int64 = 256
}

extension Message {
    /// Bytes an answer that shows it holds, about: those of its parts.
    public var weight: Int64 { parts.reduce(0) { sum, part in sum + part.weight } }
}
