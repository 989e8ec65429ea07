import HTTP

/// The client behind a proxy, from `Forwarded` or `X-Forwarded-For`; each line of the input is a value of it
/// (H198–H201).
enum Forwarding {
    private static let proxies = ["10.0.0.0/8", "2001:db8::/32"].compactMap(AddressBlock.init)
    private static let peer = PeerAddress.ipv4(0x0A00_0001, port: 1)

    static func check(_ input: [UInt8]) {
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { line in String(decoding: line, as: UTF8.self) }
        for (source, name) in [
            (ProxyTrust.Source.forwarded, "Forwarded"), (.xForwarded, "X-Forwarded-For"),
        ] {
            var trust = ProxyTrust()
            trust.proxies = proxies
            trust.source = source
            let fields = lines.map { line in (name: name, value: line) }
            let origin = trust.origin(of: Fields(fields), from: peer)
            invariant("a client is the peer or an address of the header", origin.client != .unknown)
            // Elements that an untrusted client wrote before those of the last proxy are ignored.
            let value = source == .forwarded ? "for=192.0.2.7" : "192.0.2.7"
            let named = trust.origin(of: Fields(fields + [(name, value)]), from: peer)
            invariant(
                "an untrusted address is not replaced by what it claims (H199)",
                named.client == .ipv4(0xC000_0207, port: 0))
        }
        for line in lines {
            guard let block = AddressBlock(line) else { continue }
            invariant("a block is printed as it was read", block.description == line)
        }
    }
}
