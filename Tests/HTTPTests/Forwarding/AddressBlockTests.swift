import HTTP
import Testing

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
    ]) func `hold the addresses of their prefix (H199)`(
        block: String, address: String, isInside: Bool
    )
        throws
    {
        #expect(try #require(AddressBlock(block)).contains(.named(address)) == isInside)
    }

    @Test func `may name the peers of Unix sockets`() throws {
        let unix = try #require(AddressBlock("unix"))
        #expect(unix.contains(.local))
        #expect(!unix.contains(.unknown))
        #expect(try !#require(AddressBlock("0.0.0.0/0")).contains(.local))
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.1/8", "10.0.0/8",
        "010.0.0.1", "10.0.0.256", "::/129", "2001:db8::1/32", ":::", "1:2:3:4:5:6:7:8:9", "[::1]",
        "::1%lo", "example.com", "10.0.0.0/8/8", "::ffff:10.0.0.1", "UNIX", "10.0.0.0/99999999999",
    ]) func `are refused unless they are written right`(text: String) {
        #expect(AddressBlock(text) == nil)
    }
}

extension PeerAddress {
    /// An address by its text, for tests.
    static func named(_ text: String, port: UInt16 = 0) -> PeerAddress {
        if let bits = IPv4Text.address(text.utf8) { return .ipv4(bits, port: port) }
        return IPv6Text.address(text.utf8).map { address in .ipv6(address, port: port) } ?? .unknown
    }
}
