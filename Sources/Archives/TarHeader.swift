/// The 512 bytes in front of a file in a tar archive (POSIX.1-2017, pax, "ustar Interchange Format").
struct TarHeader {
    /// The file's name: at most 100 ASCII characters.
    let name: StaticString
    /// The file's size, in bytes.
    let size: Int64
    /// When it was made, in seconds since 1970 UTC.
    let modifiedAt: Int64

    /// All files are padded to a multiple of this.
    static let block = 512

    var bytes: [UInt8] {
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: some Collection<UInt8>, at place: Int) {
            header.replaceSubrange(place..<(place + text.count), with: text)
        }
        put(Array("\(name)".utf8), at: 0)
        put(Self.octal(0o600, 7), at: 100)
        put(Self.octal(0, 7), at: 108)
        put(Self.octal(0, 7), at: 116)
        put(Self.number(size), at: 124)
        put(Self.octal(modifiedAt, 11), at: 136)
        // The checksum is counted as if it were blanks itself.
        put([UInt8](repeating: UInt8(ascii: " "), count: 8), at: 148)
        put(Array("0".utf8), at: 156)
        put(Array("ustar\u{0}00".utf8), at: 257)
        put(Self.octal(header.reduce(0) { sum, byte in sum + Int64(byte) }, 6) + [0], at: 148)
        return header
    }

    /// Eleven octal digits say 8 GiB; beyond it the base-256 form that GNU tar introduced and all
    /// others read.
    private static func number(_ size: Int64) -> [UInt8] {
        guard size >= 1 << 33 else { return octal(size, 11) }
        return [0x80, 0, 0, 0]
            + (0..<8).map { byte in UInt8(truncatingIfNeeded: size >> (56 - 8 * byte)) }
    }

    private static func octal(_ number: Int64, _ digits: Int) -> [UInt8] {
        (0..<digits).map { place in
            UInt8(ascii: "0") + UInt8(number >> (3 * (digits - 1 - place)) & 7)
        }
    }
}
