/// Text as PostgreSQL can keep it: it has none with U+0000, which people may send and SQLite keeps.
///
/// U+0000 travels as U+FFFF and `0`, and U+FFFF, which is no character and hardly ever sent, as U+FFFF
/// and `1`. So every text comes back as it was, and two are equal here when they are equal there.
enum PostgresText {
    private static let mark = Array("\u{FFFF}".utf8)
    private static let zero = UInt8(ascii: "0")
    private static let one = UInt8(ascii: "1")

    /// Adds the octets of a text.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += text.utf8
        // Nearly always there is nothing to do.
        guard bytes[start...].contains(where: { octet in octet == 0 || octet == mark[0] }) else {
            return
        }
        let plain = Array(bytes[start...])
        bytes.removeSubrange(start...)
        var rest = plain[...]
        while let octet = rest.first {
            if octet == 0 {
                bytes += mark + [zero]
                rest.removeFirst()
            } else if rest.starts(with: mark) {
                bytes += mark + [one]
                rest.removeFirst(mark.count)
            } else {
                bytes.append(octet)
                rest.removeFirst()
            }
        }
    }

    /// The text of octets from the server.
    static func text(_ octets: some Collection<UInt8>) -> String {
        guard octets.contains(mark[0]) else { return String(decoding: octets, as: UTF8.self) }
        var plain: [UInt8] = []
        var rest = Array(octets)[...]
        while let octet = rest.first {
            let sign = rest.dropFirst(mark.count).first
            if rest.starts(with: mark), let sign, sign == zero || sign == one {
                plain += sign == zero ? [0] : mark
                rest.removeFirst(mark.count + 1)
            } else {
                plain.append(octet)
                rest.removeFirst()
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
