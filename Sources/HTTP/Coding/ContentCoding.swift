/// A content coding that this server reads and writes, the preferred one first (RFC 9110 §8.4.1).
public enum ContentCoding: String, Sendable, CaseIterable {
    /// RFC 1952; also named `x-gzip`.
    case gzip
    /// The zlib format of RFC 1950. Raw deflate (RFC 1951) is neither written nor read (H113).
    case deflate

    /// The value of `Accept-Encoding` in a 415 (H117, H121).
    public static let accepted = "gzip, deflate, identity"

    /// The name in `Content-Encoding`.
    public var name: String { rawValue }

    init?(name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// zlib's `windowBits` parameter for this format and a window of 2ⁿ bytes, n from 9 to 15.
    func windowBits(_ window: Int32 = 15) -> Int32 {
        switch self {
        case .gzip: window + 16
        case .deflate: window
        }
    }
}

extension ContentCoding {
    /// The request's content coding is not supported: answer 415 with ``ContentCoding/accepted``
    /// (H117).
    public struct Unsupported: Error, Equatable, Sendable {
        /// Makes the error.
        public init() {}
    }

    /// The content coding of a request; `nil` for none.
    ///
    /// Several codings are rejected like an unknown one. For a request without a body the field is
    /// ignored.
    public static func of(_ request: Request) throws(Unsupported) -> ContentCoding? {
        guard request.framing.announcesContent,
            let text = request.fields.joined("Content-Encoding")
        else { return nil }
        guard let names = FieldList.elements(of: text), names.count <= 1 else {
            throw Unsupported()
        }
        guard let name = names.first, name.lowercased() != "identity" else { return nil }
        guard let coding = ContentCoding(name: name) else { throw Unsupported() }
        return coding
    }
}

extension ContentCoding {
    /// The coding to use for a response; `nil` for none (H111).
    ///
    /// The highest weight wins; of equal weights, gzip precedes deflate and deflate no coding. If
    /// the field is missing or malformed, or accepts nothing that this server supports, the content
    /// is sent uncoded, because a readable answer helps a client more than a 406.
    public static func preferred(by fields: Fields) -> ContentCoding? {
        guard let text = fields.joined("Accept-Encoding"), let weights = Weights(text) else {
            return nil
        }
        // Uncoded content is acceptable unless excluded, and is preferred least.
        let plain = weights["identity"] ?? weights["*"] ?? 1
        var best: (coding: ContentCoding, weight: Int)?
        for coding in allCases {
            let weight = weights[coding.name] ?? weights["*"] ?? 0
            if weight > best?.weight ?? 0 { best = (coding, weight) }
        }
        guard let best, best.weight >= plain else { return nil }
        return best.coding
    }

    /// The weights of an `Accept-Encoding`, in thousandths. Of duplicate codings the first counts.
    private struct Weights {
        private var entries: [(name: String, weight: Int)] = []

        init?(_ text: String) {
            guard let elements = FieldList.elements(of: text) else { return nil }
            for element in elements {
                let parts = element.split(separator: ";", omittingEmptySubsequences: false)
                    .map(\.trimmed)
                guard let name = parts.first, name.utf8.isToken, parts.count <= 2 else {
                    return nil
                }
                var weight = 1000
                if parts.count == 2 {
                    guard let stated = Int(qualityValue: parts[1]) else { return nil }
                    weight = stated
                }
                let known = ContentCoding(name: name)?.name ?? name.lowercased()
                entries.append((known, weight))
            }
        }

        subscript(name: String) -> Int? {
            entries.first { entry in entry.name == name }?.weight
        }
    }
}

extension Int {
    /// Parses `q=` and a weight of at most three decimals into thousandths (RFC 9110 §12.4.2).
    fileprivate init?(qualityValue text: Substring) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 3, bytes[0].asciiLowercased == UInt8(ascii: "q"),
            bytes[1] == UInt8(ascii: "="), bytes.count <= 7
        else { return nil }
        let whole = bytes[2]
        guard whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return nil }
        var thousandths = 0
        if bytes.count > 3 {
            guard bytes[3] == UInt8(ascii: ".") else { return nil }
            let digits = bytes[4...] + Array(repeating: UInt8(ascii: "0"), count: 7 - bytes.count)
            guard let number = Int64(decimal: digits) else { return nil }
            thousandths = Int(number)
        }
        guard whole == UInt8(ascii: "0") || thousandths == 0 else { return nil }
        self = whole == UInt8(ascii: "1") ? 1000 : thousandths
    }
}
