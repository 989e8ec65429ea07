import Testing

@testable import HTTPTransport

@Suite struct `Names of certificates` {
    @Test(arguments: [
        ("example.com", true), ("chat.example.org", true), ("example.org", false),
        ("a.chat.example.org", false), (".example.org", false), ("example.co", false),
        ("xexample.com", false), ("", false), ("www.example.net", false), ("192.0.2.1", true),
    ])
    func `exact names and one label below a wildcard are covered (H163)`(
        host: String, isCovered: Bool
    ) {
        let names = CertificateNames([
            "EXAMPLE.com", "*.Example.ORG", "w*.example.net", "*", "*.*.example.net", "192.0.2.1",
        ])
        #expect(names.covers(host) == isCovered)
    }

    @Test(
        arguments: [
            ([0, 8, 0, 0, 5] + Array("A-b.c".utf8), "a-b.c"),
            ([0, 8, 1, 0, 5] + Array("A-b.c".utf8), nil),
            ([0, 9, 0, 0, 5] + Array("A-b.c".utf8), nil),
            ([0, 8, 0, 0, 6] + Array("A-b.c".utf8), nil),
            ([0, 8, 0, 0, 5] + Array("A-b\0c".utf8), nil),
            ([0, 3, 0, 0, 0], nil),
            ([0, 8, 0, 0], nil),
            ([], nil),
        ] as [([UInt8], String?)])
    func `a server name is read only where it is well-formed (H163)`(
        octets: [UInt8], name: String?
    ) {
        #expect(octets.withUnsafeBufferPointer { octets in ServerName.read(octets) } == name)
    }
}
