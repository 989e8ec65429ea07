internal import HTTP

/// The digests that a client wants: the weights of a `Want-Repr-Digest` or `Want-Content-Digest` header (RFC 9530
/// §4).
struct DigestPreference: Equatable {
    private let weights: [String: Int]

    /// Parses a header; `nil` when it is no dictionary of weights from 0 to 10, which counts as absent (RFC 9651
    /// §4.2).
    init?(_ text: String) {
        var weights: [String: Int] = [:]
        for member in text.split(separator: ",", omittingEmptySubsequences: false) {
            let item = member.trimmed.prefix { $0 != ";" }
            let halves = item.split(separator: "=", omittingEmptySubsequences: false)
            guard halves.count == 2, DigestPreference.isKey(halves[0]),
                let weight = Int64(decimal: halves[1].utf8), weight <= 10
            else { return nil }
            // The last of equal keys counts (RFC 9651).
            weights[String(halves[0])] = Int(weight)
        }
        self.weights = weights
    }

    /// Whether an algorithm is wanted; weight 0 and an absent key mean that it is not.
    func wants(_ algorithm: DigestAlgorithm) -> Bool {
        algorithm.key.map { key in weights[key, default: 0] > 0 } ?? false
    }

    private static func isKey(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"):
                    true
                default: false
                }
            }
    }
}
