/// The text form of IPv4 addresses: four decimal numbers (RFC 3986 §3.2.2, `IPv4address`).
package enum IPv4Text {
    /// Four octets, most significant first; `nil` for anything else, such as a leading zero, which
    /// some readers take for octal.
    package static func address(_ text: some Collection<UInt8>) -> UInt32? {
        let numbers = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard numbers.count == 4 else { return nil }
        var bits: UInt32 = 0
        for digits in numbers {
            guard
                (1...3).contains(digits.count), digits.count == 1 || digits.first != 0x30,
                let number = Int64(decimal: digits), number <= 255
            else { return nil }
            bits = bits << 8 | UInt32(number)
        }
        return bits
    }
}
