extension ContentCoding {
    /// The coding an answer is best sent in; `nil` is none (H111).
    ///
    /// The highest weight wins, at a tie gzip before deflate before none. A missing or malformed
    /// field, and one that allows nothing this server can do, get the content as it is: a client
    /// that forbids even that is better served with an answer it can read than with a 406.
    public static func preferred(by fields: Fields) -> ContentCoding? {
        guard let text = fields.joined("Accept-Encoding"), let weights = Weights(text) else {
            return nil
        }
        // What is not mentioned is allowed uncoded, and liked least.
        let plain = weights["identity"] ?? weights["*"] ?? 1
        var best: (coding: ContentCoding, weight: Int)?
        for coding in allCases {
            let weight = weights[coding.name] ?? weights["*"] ?? 0
            if weight > best?.weight ?? 0 { best = (coding, weight) }
        }
        guard let best, best.weight >= plain else { return nil }
        return best.coding
    }

    /// The weights of an `Accept-Encoding`, in thousandths; of a coding named twice the first counts.
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
    /// Reads `q=` and a weight of at most three decimals, as thousandths (RFC 9110 §12.4.2).
    fileprivate init?(qualityValue text: Substring) {
        let octets = Array(text.utf8)
        guard octets.count >= 3, octets[0].asciiLowercased == UInt8(ascii: "q"),
            octets[1] == UInt8(ascii: "="), octets.count <= 7
        else { return nil }
        let whole = octets[2]
        guard whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return nil }
        var thousandths = 0
        if octets.count > 3 {
            guard octets[3] == UInt8(ascii: ".") else { return nil }
            let digits = octets[4...] + Array(repeating: UInt8(ascii: "0"), count: 7 - octets.count)
            guard let number = Int64(decimal: digits) else { return nil }
            thousandths = Int(number)
        }
        guard whole == UInt8(ascii: "0") || thousandths == 0 else { return nil }
        self = whole == UInt8(ascii: "1") ? 1000 : thousandths
    }
}
