/// Writes values one behind the other, in the form ``ByteReader`` reads.
///
/// Ours and not JSON: payloads hold bytes, are read by nobody else, and are a third of the size.
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
