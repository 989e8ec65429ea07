/// Percent-encoding as signatures want it (§10.4): every octet but `A–Z a–z 0–9 - . _ ~` escaped, once,
/// in upper-case digits.
///
/// One octet written otherwise, and the store computes another signature.
enum URIEncoding {
    /// A name or value of a query.
    static func component(_ text: String) -> String { encoded(text, keepsSlashes: false) }

    /// A path, whose slashes stay.
    static func path(_ text: String) -> String { encoded(text, keepsSlashes: true) }

    /// Undoes what stores do to keys when asked for `encoding-type=url`; `nil` when a `%` starts no
    /// escape or the octets are no UTF-8.
    ///
    /// They write a blank as `+`.
    static func decoded(_ text: String) -> String? {
        var octets: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let octet = rest.next() {
            switch octet {
            case UInt8(ascii: "+"): octets.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
                else { return nil }
                octets.append(high << 4 | low)
            default: octets.append(octet)
            }
        }
        return String(validating: octets, as: UTF8.self)
    }

    private static func encoded(_ text: String, keepsSlashes: Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var octets: [UInt8] = []
        octets.reserveCapacity(text.utf8.count)
        for octet in text.utf8 {
            if isPlain(octet) || keepsSlashes && octet == UInt8(ascii: "/") {
                octets.append(octet)
            } else {
                octets += [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)]]
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        Character(Unicode.Scalar(octet)).hexDigitValue.map { UInt8($0) }
    }
}
