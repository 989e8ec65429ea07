/// What each octet may be part of; one look-up answers for a whole grammar rule.
struct OctetClass: OptionSet {
    let rawValue: UInt8

    /// `tchar` (RFC 9110 §5.6.2): methods, field names.
    static let token = OctetClass(rawValue: 1)
    /// `field-vchar`, SP and HTAB (H25).
    static let value = OctetClass(rawValue: 2)
    /// What a path holds, `%` included (H15).
    static let path = OctetClass(rawValue: 4)
    /// What a query holds, `%` included (H15).
    static let query = OctetClass(rawValue: 8)
    /// What a registered name or an IPv4 address holds (H35).
    static let host = OctetClass(rawValue: 16)
    /// `0`–`9`.
    static let digit = OctetClass(rawValue: 32)

    /// The classes of all 256 octets.
    static let table: [OctetClass] = (0...255).map { number in
        let octet = UInt8(number)
        var classes: OctetClass = []
        let isAlphanumeric =
            (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet)
            || (0x61...0x7A).contains(octet)
        if isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(octet) { classes.insert(.token) }
        if octet >= 0x20 && octet != 0x7F || octet == 0x09 { classes.insert(.value) }
        if isAlphanumeric || "-._~!$&'()*+,;=:@/%|^{}[]".utf8.contains(octet) {
            classes.formUnion([.path, .query])
        }
        if "?\"<>\\`".utf8.contains(octet) { classes.insert(.query) }
        // RFC 3986 §3.2.2 without percent escapes and without the comma of a list (H35).
        if isAlphanumeric || "-._~!$&'()*+;=".utf8.contains(octet) { classes.insert(.host) }
        if (0x30...0x39).contains(octet) { classes.insert(.digit) }
        return classes
    }
}
