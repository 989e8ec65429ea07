/// What metadata may hold (R40–R42, rulings 8).
public enum MetadataLimits {
    /// Bytes of UTF-8 in one text.
    public static let bytesInText = 2048
    /// Levels of objects below the root.
    public static let depth = 32
    /// Bytes of the whole tree as compact JSON.
    public static let bytesInTree = 256 * 1024
    /// Deletions that are remembered key by key.
    public static let deletions = 1000
}

extension MetadataTree {
    /// Checks keys, texts and depth, but not the size of the whole.
    ///
    /// - Parameters:
    ///   - property: What a rejection names.
    ///   - level: Levels of objects above this tree; 0 for the root.
    /// - Throws: `invalid(property)`.
    public func check(as property: String, level: Int = 0) throws(Rejection) {
        switch self {
        case .text(let text):
            guard text.utf8.count <= MetadataLimits.bytesInText else { throw .invalid(property) }
        case .object(let members):
            guard level <= MetadataLimits.depth else { throw .invalid(property) }
            for member in members {
                guard Self.isLegal(key: member.key) else { throw .invalid(property) }
                try member.value.check(as: property, level: level + 1)
            }
        }
    }

    /// Checks the keys of a path from the root, and how many there are: the last one may name a text in
    /// an object of the deepest level, which makes it one key more than there are levels (rulings 29).
    ///
    /// - Throws: `invalid(property)`.
    public static func check(path: [String], as property: String) throws(Rejection) {
        guard path.count <= MetadataLimits.depth + 1, path.allSatisfy(isLegal) else {
            throw .invalid(property)
        }
    }

    /// Checks the size of the whole tree.
    func checkSize(as property: String) throws(Rejection) {
        guard compactSize <= MetadataLimits.bytesInTree else { throw .invalid(property) }
    }

    /// Whether a key is one or more of `A–Z a–z 0–9 - _` (R41).
    static func isLegal(key: String) -> Bool {
        !key.isEmpty
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Bytes of this tree as JSON without white space, escaping only what RFC 8259 §7 demands.
    public var compactSize: Int {
        switch self {
        case .text(let text):
            text.utf8.reduce(2) { size, byte in size + Self.escapedSize(byte) }
        case .object(let members):
            members.reduce(2 + max(members.count - 1, 0)) { size, member in
                size + member.key.utf8.count + 3 + member.value.compactSize
            }
        }
    }

    private static func escapedSize(_ byte: UInt8) -> Int {
        switch byte {
        case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
        case 0..<0x20: 6
        default: 1
        }
    }
}
