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
