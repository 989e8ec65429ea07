import HTTP
import Testing

@testable import HTTPTransport

@Suite struct `A look-up of a host` {
    @Test(arguments: [
        ("127.0.0.1", PeerAddress.ipv4(0x7F00_0001, port: 0)),
        ("::1", .ipv6(IPv6Address(high: 0, low: 1), port: 0)),
        ("::ffff:10.0.0.1", .ipv4(0x0A00_0001, port: 0)),
    ]) func `finds what an address stands for`(host: String, address: PeerAddress) async {
        let found = await HostLookup().addresses(of: host, within: .seconds(60))
        #expect(found == [address])
    }

    @Test func `finds nothing for a name nobody can have (RFC 6761)`() async {
        let found = await HostLookup().addresses(of: "nobody.invalid", within: .seconds(60))
        #expect(found.isEmpty)
    }
}
