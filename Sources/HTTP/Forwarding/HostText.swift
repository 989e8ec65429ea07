/// The host of a URL: an address, or a name to be looked up (RFC 3986 §3.2.2).
public enum HostText: Equatable, Sendable {
    case address(PeerAddress)
    case name(String)

    /// Reads a host as it stands in a URL, an IPv6 address in brackets.
    ///
    /// - Returns: `nil` for what is neither. A name that ends in a number is none: some readers would
    ///   take `127.1` or `0x7f000001` for an address.
    public init?(_ text: some StringProtocol) {
        let octets = Array(text.utf8)
        if octets.first == UInt8(ascii: "[") {
            guard octets.last == UInt8(ascii: "]"),
                let address = IPv6Text.address(octets.dropFirst().dropLast())
            else { return nil }
            self = .address(PeerAddress(address, port: 0))
        } else if let bits = IPv4Text.address(octets) {
            self = .address(.ipv4(bits, port: 0))
        } else if Self.isName(octets) {
            self = .name(text.lowercased())
        } else {
            return nil
        }
    }

    private static func isName(_ octets: [UInt8]) -> Bool {
        let labels = octets.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // One dot may stand at the end, where the root of all names is.
        let named = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        guard octets.count <= 253, let last = named.last else { return false }
        return named.allSatisfy(isLabel) && !isNumber(last)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let isDecimal = label.allSatisfy { octet in (0x30...0x39).contains(octet) }
        return isDecimal || label.starts(with: Array("0x".utf8))
            || label.starts(with: Array("0X".utf8))
    }
}
