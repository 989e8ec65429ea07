import Messaging

/// Encodes values one after another; ``ByteReader`` decodes them.
///
/// A binary format and not JSON: payloads contain bytes, only this module reads them, and they take a third of the
/// space.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes a zigzag variable-length integer: seven bits in each byte, the lowest first, so that numbers near zero are
    /// short.
    mutating func write(_ number: Int64) {
        var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func write(byte: UInt8) {
        bytes.append(byte)
    }

    mutating func write(_ flag: Bool) {
        write(byte: flag ? 1 : 0)
    }

    /// Writes the number of bytes, then the bytes.
    mutating func write(_ more: some Collection<UInt8>) {
        write(Int64(more.count))
        bytes += more
    }

    /// Writes the number of bytes in UTF-8, then the bytes.
    mutating func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes the number of elements, then the elements.
    mutating func write<Element>(
        each elements: [Element], _ write: (inout ByteWriter, Element) -> Void
    ) {
        self.write(Int64(elements.count))
        for element in elements { write(&self, element) }
    }

    /// Writes whether there is a value, then the value.
    mutating func write<Wrapped>(
        optional value: Wrapped?, _ write: (inout ByteWriter, Wrapped) -> Void
    ) {
        self.write(value != nil)
        if let value { write(&self, value) }
    }
}

/// Decodes what ``ByteWriter`` has encoded.
///
/// Its functions throw ``StoreFault/unreadable(_:)`` for bytes that end too early, and for values out of range.
struct ByteReader {
    private var rest: ArraySlice<UInt8>
    private let replacement: UserReplacement?

    /// - Parameter replacement: The user whose id is replaced by another while it is read; `nil` for none.
    init(_ bytes: [UInt8], replacing replacement: UserReplacement? = nil) {
        rest = bytes[...]
        self.replacement = replacement
    }

    /// Whether all bytes were read.
    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() throws(StoreFault) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .unreadable("payload is too short") }
        return byte
    }

    mutating func number() throws(StoreFault) -> Int64 {
        var bits: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            bits |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1) }
        }
        throw .unreadable("number in payload is too long")
    }

    mutating func flag() throws(StoreFault) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        case let other: throw .unreadable("flag in payload is \(other)")
        }
    }

    mutating func bytes() throws(StoreFault) -> [UInt8] {
        let count = try number()
        guard count >= 0, count <= rest.count else {
            throw .unreadable("payload ends before its bytes")
        }
        let bytes = Array(rest.prefix(Int(count)))
        rest = rest.dropFirst(Int(count))
        return bytes
    }

    mutating func text() throws(StoreFault) -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }

    mutating func each<Element>(
        _ read: (inout ByteReader) throws -> Element
    ) throws -> [Element] {
        let count = try number()
        guard count >= 0 else { throw StoreFault.unreadable("count in payload is \(count)") }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self)) }
        return elements
    }

    mutating func optional<Wrapped>(
        _ read: (inout ByteReader) throws -> Wrapped
    ) throws -> Wrapped? {
        try flag() ? try read(&self) : nil
    }

    /// Checks that all bytes were read.
    ///
    /// - Throws: ``StoreFault/unreadable(_:)``.
    func finish() throws(StoreFault) {
        guard rest.isEmpty else { throw .unreadable("payload is too long") }
    }

    /// Reads a number that was written as its difference from another one.
    mutating func sum(_ base: Int64) throws(StoreFault) -> Int64 {
        let (sum, isTooLarge) = base.addingReportingOverflow(try number())
        return try valid(isTooLarge ? nil : sum, "number")
    }

    /// Returns a value that was read.
    ///
    /// - Parameters:
    ///   - value: `nil` when what was read is no valid value.
    ///   - what: A name of the value, for the error.
    /// - Throws: ``StoreFault/unreadable(_:)`` when the value is `nil`.
    func valid<Value>(_ value: Value?, _ what: String) throws(StoreFault) -> Value {
        guard let value else { throw .unreadable(what) }
        return value
    }
}

/// Replaces the id of an erased user in payloads while they are read, and notes whether one names the user (X16).
///
/// All users in payloads are read by ``ByteReader/user()``.
final class UserReplacement {
    /// The user whose id is replaced.
    let user: UserID
    /// The id that replaces it.
    let erased: UserID
    /// Whether what was read names the user.
    var wasFound = false

    init(_ user: UserID, by erased: UserID) {
        self.user = user
        self.erased = erased
    }

    fileprivate func replacing(_ other: UserID) -> UserID {
        guard other == user else { return other }
        wasFound = true
        return erased
    }
}

// The values that many payloads contain.
extension ByteWriter {
    mutating func write<Subject>(_ id: Identifier<Subject>) { write(id.bytes) }

    mutating func write(_ user: UserID) { write(user.text) }

    mutating func write(_ moment: Timestamp) { write(moment.milliseconds) }

    mutating func write(_ position: Position) { write(position.number) }

    mutating func write(_ participants: Participants) {
        write(each: participants.users) { writer, user in writer.write(user) }
    }
}

extension ByteReader {
    mutating func id<Subject>() throws(StoreFault) -> Identifier<Subject> {
        try valid(Identifier<Subject>(bytes: try bytes()), "identifier in payload")
    }

    mutating func user() throws(StoreFault) -> UserID {
        let user = try valid(UserID(stored: try text()), "user in payload")
        return replacement?.replacing(user) ?? user
    }

    mutating func timestamp() throws(StoreFault) -> Timestamp {
        Timestamp(milliseconds: try number())
    }

    mutating func position() throws(StoreFault) -> Position {
        Position(try number())
    }

    mutating func participants() throws -> Participants {
        Participants(try each { reader in try reader.user() })
    }
}
