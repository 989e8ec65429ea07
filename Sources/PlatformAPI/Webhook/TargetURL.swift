import HTTP

/// The target URL of a webhook, parsed as far as needed to decide which host is called (webhooks §1.2).
///
/// Stricter than RFC 3986: what two parsers might read as different hosts is invalid. Credentials and fragments are not
/// allowed.
struct TargetURL: Equatable {
    fileprivate let isEncrypted: Bool
    let host: HostText

    /// Parses an absolute `http` or `https` URL; `nil` for any other text.
    init?(_ text: String) {
        guard text.utf8.allSatisfy(Self.isPlain), let scheme = text.firstRange(of: "://") else {
            return nil
        }
        switch text[..<scheme.lowerBound].lowercased() {
        case "https": isEncrypted = true
        case "http": isEncrypted = false
        default: return nil
        }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { character in !"/?".contains(character) }
        let end = authority.lastIndex(of: ":").flatMap { colon in
            // A colon within brackets belongs to an IPv6 address.
            authority[colon...].contains("]") ? nil : colon
        }
        guard let host = HostText(authority[..<(end ?? authority.endIndex)]),
            end.map({ colon in Self.isPort(authority[colon...].dropFirst()) }) ?? true
        else { return nil }
        self.host = host
    }

    /// Returns whether the rule allows the URL, as far as that is known before its host is resolved.
    func isAdmitted(by rule: OutboundRule) -> Bool {
        guard isEncrypted || rule.allowsHTTP else { return false }
        return switch host {
        case .address(let address): rule.admits(address)
        case .name(let name):
            !Self.isLoopback(name)
                || rule.admits(.ipv4(0x7F00_0001, port: 0))
                || rule.admits(.ipv6(.loopback, port: 0))
        }
    }

    /// Returns whether a lower-case name, also with a trailing dot, means this machine whatever DNS says (RFC 6761
    /// §6.3).
    private static func isLoopback(_ name: String) -> Bool {
        name.split(separator: ".").last == "localhost"
    }

    /// Returns whether a byte may occur in a URL unencoded; `#` is not allowed.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}#".utf8.contains(byte)
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard (1...5).contains(text.utf8.count), let number = Int(text) else { return false }
        return (1...65_535).contains(number) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
