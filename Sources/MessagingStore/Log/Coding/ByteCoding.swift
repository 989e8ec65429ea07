import Messaging

/// Writes values one behind the other, in the form ``ByteReader`` reads.
///
/// Our own format and not JSON: payloads hold bytes, only this store reads them, and they are a third of the size.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Seven bits a byte, lowest first, small negative numbers short as well (zigzag).
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

    /// Bytes behind their number.
    mutating func write(_ more: some Collection<UInt8>) {
        write(Int64(more.count))
        bytes += more
    }

    /// Text as UTF-8 behind the number of its bytes.
    mutating func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Values behind their number.
    mutating func write<Element>(
        each elements: [Element], _ write: (inout ByteWriter, Element) -> Void
    ) {
        self.write(Int64(elements.count))
        for element in elements { write(&self, element) }
    }

    /// A value behind a byte that says whether there is one.
    mutating func write<Wrapped>(
        optional value: Wrapped?, _ write: (inout ByteWriter, Wrapped) -> Void
    ) {
        self.write(value != nil)
        if let value { write(&self, value) }
    }
}

/// Reads what ``ByteWriter`` wrote; anything else is a fault.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Whether no byte is left.
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
        var elements: [Element] = []
        for _ in 0..<max(try number(), 0) { elements.append(try read(&self)) }
        return elements
    }

    mutating func optional<Wrapped>(
        _ read: (inout ByteReader) throws -> Wrapped
    ) throws -> Wrapped? {
        try flag() ? try read(&self) : nil
    }

    /// Makes sure that nothing is left over.
    func finish() throws(StoreFault) {
        guard rest.isEmpty else { throw .unreadable("payload is too long") }
    }

    /// A number that is written as what it is more than another one.
    mutating func sum(_ base: Int64) throws(StoreFault) -> Int64 {
        let (sum, isTooLarge) = base.addingReportingOverflow(try number())
        return try legal(isTooLarge ? nil : sum, "number")
    }

    /// A value that exists only when it is legal.
    func legal<Value>(_ value: Value?, _ what: String) throws(StoreFault) -> Value {
        guard let value else { throw .unreadable(what) }
        return value
    }
}

// The small values all payloads are made of.
extension ByteWriter {
    mutating func write<Subject>(_ id: Identifier<Subject>) { write(id.bytes) }

    mutating func write(_ user: UserID) { write(user.text) }

    mutating func write(_ moment: Timestamp) { write(moment.milliseconds) }

    mutating func write(_ place: Position) { write(place.number) }

    mutating func write(_ participants: Participants) {
        write(each: participants.users) { writer, user in writer.write(user) }
    }
}

extension ByteReader {
    mutating func id<Subject>() throws(StoreFault) -> Identifier<Subject> {
        try legal(Identifier<Subject>(bytes: try bytes()), "identifier in payload")
    }

    mutating func user() throws(StoreFault) -> UserID {
        try legal(UserID(stored: try text()), "user in payload")
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
