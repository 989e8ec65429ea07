/// A name a blob may have on disk: 1 to 64 characters of `a–z`, `0–9` and `-`, not starting with `-`.
///
/// Checked where it is made, so that past here no name leaves its folder or meets a case-folding
/// file system.
public struct BlobName: Hashable, Sendable, CustomStringConvertible {
    /// The name as it stands in the folder.
    public let text: String

    /// Reads a name; `nil` when it has another character or length.
    public init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), bytes.first != UInt8(ascii: "-") else { return nil }
        guard bytes.allSatisfy(BlobName.allows) else { return nil }
        self.text = String(text)
    }

    /// The name as it stands in the folder.
    public var description: String { text }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"): true
        default: false
        }
    }
}
