/// A set of octets: what one rule of the grammar allows.
///
/// Bits of a few words, so that a look needs neither memory nor a bound, and constants, so that
/// nothing is made when one is first asked for; `HeadOctetTests` spells the sets out once more. No
/// rule tells the octets above ASCII apart, so one word stands for them all.
struct OctetClass: Sendable {
    /// 0x00–0x3F, the first octet being the lowest bit.
    let low: UInt64
    /// 0x40–0x7F.
    let high: UInt64
    /// All bits or none.
    var beyond: UInt64 = 0

    /// Whether an octet belongs to the class.
    @inline(__always)
    func contains(_ octet: UInt8) -> Bool {
        let word = octet < 0x80 ? (octet < 0x40 ? low : high) : beyond
        return word &>> UInt64(octet) & 1 != 0
    }

    /// `tchar` (RFC 9110 §5.6.2): letters, digits and !#$%&'*+-.^_`|~; methods, field names.
    static let token = OctetClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    /// `field-vchar`, SP and HTAB (H25).
    static let value = OctetClass(
        low: 0xFFFF_FFFF_0000_0200, high: 0x7FFF_FFFF_FFFF_FFFF, beyond: .max)
    /// `VCHAR`: what a request line is made of, but for its blanks.
    static let visible = OctetClass(low: 0xFFFF_FFFE_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    /// What a path holds: letters, digits and `-._~!$&'()*+,;=:@/%|^{}[]` (H15).
    static let path = OctetClass(low: 0x2FFF_FFF2_0000_0000, high: 0x7FFF_FFFE_EFFF_FFFF)
    /// What stands for itself in a path: all of it but `%`.
    static let unescaped = OctetClass(low: 0x2FFF_FFD2_0000_0000, high: 0x7FFF_FFFE_EFFF_FFFF)
    /// What a query holds: what a path holds, `?"<>\` and the grave accent (H15).
    static let query = OctetClass(low: 0xFFFF_FFF6_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    /// What a registered name or an IPv4 address holds: RFC 3986 §3.2.2 without percent escapes and
    /// without the comma of a list, so letters, digits and `-._~!$&'()*+;=` (H35).
    static let host = OctetClass(low: 0x2BFF_6FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
}
