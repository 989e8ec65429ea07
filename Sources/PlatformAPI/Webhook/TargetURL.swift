import HTTP

/// The target of a webhook, taken apart as far as it decides who would be called (webhooks §1.2).
///
/// Stricter than URLs are: whatever two readers might take for different hosts is none. Credentials and
/// fragments have no place in what a server calls.
struct TargetURL: Equatable {
    let isEncrypted: Bool
    let host: HostText

    /// - Returns: `nil` for what is no absolute URL of a server.
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
            // A colon within brackets is of an address.
            authority[colon...].contains("]") ? nil : colon
        }
        guard let host = HostText(authority[..<(end ?? authority.endIndex)]),
            end.map({ colon in Self.isPort(authority[colon...].dropFirst()) }) ?? true
        else { return nil }
        self.host = host
    }

    /// Whether it may be called, as far as can be said without looking up its host.
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

    /// Whether a name is of this machine whatever a look-up says, in lower case (RFC 6761 §6.3). With a dot at
    /// its end few look-ups know it, and yet whoever calls it comes here.
    private static func isLoopback(_ name: String) -> Bool {
        name.split(separator: ".").last == "localhost"
    }

    /// What may stand in a URL without being encoded, but for `#`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}#".utf8.contains(byte)
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard (1...5).contains(text.utf8.count), let number = Int(text) else { return false }
        return (1...65_535).contains(number) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
