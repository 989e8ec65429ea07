internal import Bytes

/// Numbered fields: tag (1 byte), length (4 bytes, little-endian), bytes.
///
/// Unknown tags are skipped, so a record written by a newer server can be read.
struct TaggedBytes {
    private(set) var bytes: [UInt8] = []
    private var fields: [UInt8: ArraySlice<UInt8>] = [:]

    init() {}

    /// Decodes fields; `nil` when the bytes end inside a field.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let tag = rest.first {
            guard rest.count >= 5 else { return nil }
            let length = rest.dropFirst().prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(5)
            guard length <= rest.count else { return nil }
            fields[tag] = rest.prefix(length)
            rest = rest.dropFirst(length)
        }
        self.bytes = bytes
    }

    mutating func add(_ tag: UInt8, _ value: [UInt8]?) {
        guard let value else { return }
        bytes.append(tag)
        bytes += UInt32(value.count).littleEndianBytes
        bytes += value
    }

    mutating func add(_ tag: UInt8, _ value: String?) { add(tag, value.map { Array($0.utf8) }) }

    mutating func add(_ tag: UInt8, _ value: Int64?) { add(tag, value.map(\.littleEndianBytes)) }

    func bytes(_ tag: UInt8) -> [UInt8]? { fields[tag].map(Array.init) }

    func text(_ tag: UInt8) -> String? {
        fields[tag].flatMap { String(validating: $0, as: UTF8.self) }
    }

    func number(_ tag: UInt8) -> Int64? {
        guard let bytes = fields[tag], bytes.count == 8 else { return nil }
        return Int64(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
}
