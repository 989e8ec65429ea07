import Testing

@testable import HTTP

@Suite struct `Address blocks` {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false),
        ("192.0.2.6/31", "192.0.2.7", true), ("0.0.0.0/0", "203.0.113.9", true),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::", false),
        ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:1", false),
        ("::1", "::1", true), ("::1", "::2", false), ("::/0", "2001:db8::1", true),
        ("::/0", "10.0.0.1", false), ("0.0.0.0/0", "::1", false),
        ("2001:db8::/64", "2001:db8::ffff:1:2:3", true),
    ]) func `contain the addresses of their prefix (H199)`(
        block: String, address: String, isInside: Bool
    )
        throws
    {
        #expect(try #require(AddressBlock(block)).contains(.named(address)) == isInside)
    }

    @Test func `may be the peers of Unix sockets`() throws {
        let unix = try #require(AddressBlock("unix"))
        #expect(unix.contains(.local))
        #expect(!unix.contains(.unknown))
        #expect(try !#require(AddressBlock("0.0.0.0/0")).contains(.local))
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.1/8", "10.0.0/8",
        "010.0.0.1", "10.0.0.256", "::/129", "2001:db8::1/32", ":::", "1:2:3:4:5:6:7:8:9", "[::1]",
        "::1%lo", "example.com", "10.0.0.0/8/8", "::ffff:10.0.0.1", "UNIX", "10.0.0.0/99999999999",
    ]) func `are rejected when malformed`(text: String) {
        #expect(AddressBlock(text) == nil)
    }
}

extension PeerAddress {
    /// Parses an address, for tests.
    static func named(_ text: String, port: UInt16 = 0) -> PeerAddress {
        if let bits = IPv4Text.address(text.utf8) { return .ipv4(bits, port: port) }
        return IPv6Text.address(text.utf8).map { address in .ipv6(address, port: port) } ?? .unknown
    }
}

@Suite struct `Outbound requests` {
    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1",
        "198.19.255.255", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "[::]",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]",
        "[64:ff9b::7f00:1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[ff02::1]",
        "[2001:db8::1]", "[2001::1]", "[2002:7f00:1::1]", "[3fff::1]", "[4000::1]",
    ]) func `may not go to hosts that trust the server (X6)`(host: String) throws {
        #expect(!OutboundRule().admits(try address(host)))
    }

    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1",
        "192.0.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "[2606:2800:220:1::1]",
        "[2a00:1450::1]", "[::ffff:93.184.216.34]",
    ]) func `may go to the public Internet (X6)`(host: String) throws {
        #expect(OutboundRule().admits(try address(host)))
    }

    @Test func `may go where the operator allows it, and no further (X6)`() throws {
        var rule = OutboundRule()
        rule.allowedNetworks = ["127.0.0.0/8", "fd00::/8"].compactMap(AddressBlock.init)
        #expect(rule.admits(try address("127.0.0.1")))
        #expect(rule.admits(try address("[::ffff:127.0.0.1]")))
        #expect(rule.admits(try address("[fd00::1]")))
        #expect(!rule.admits(try address("10.0.0.1")))
        #expect(!rule.admits(try address("[::1]")))
        #expect(!rule.admits(.local))
        #expect(!rule.admits(.unknown))
    }

    @Test(arguments: [
        "", ".", "a..b", "127.1", "0x7f000001", "2130706433", "1.2.3.04", "a.256", "host.0x1",
        "a b",
        "ä.example", "u@h", "[::1", "[1.2.3.4]", String(repeating: "a", count: 64), "h:1", "%31",
    ]) func `reject host texts that other parsers read differently (X6)`(text: String) {
        #expect(HostText(text) == nil)
    }

    @Test(arguments: ["example.org", "example.org.", "a-b_c.x1", "1.example", "localhost"])
    func `accept valid hosts`(text: String) {
        #expect(HostText(text) == .name(text))
    }

    private func address(_ host: String) throws -> PeerAddress {
        guard case .address(let address) = try #require(HostText(host)) else {
            throw NoAddress(host: host)
        }
        return address
    }

    private struct NoAddress: Error {
        let host: String
    }
}
