import COpenSSL
import Glibc
import HTTP
import HTTPTransport
import Synchronization
import Testing

// Certificates of both sides, and their replacement.
extension LiveServerTests.`TLS` {
    @Test func `a service gets a verified identity, never one from a header (H167)`()
        async throws
    {
        let service = TestService { request in
            Answer(
                "subject",
                Response(.ok, "text/plain", Array((request.client?.subject ?? "none").utf8)))
        }
        let pair = authority.pair { options in
            options.subject = "billing"
            options.usage = "clientAuth"
        }
        let bundle = authority.bundle
        try await servingSecurely(
            authority, service,
            with: { configuration in
                configuration.tls?.clientCertificates = .optional
                configuration.tls?.clientBundle = bundle
            }
        ) { live in
            for (identity, name) in [(pair, "CN=billing"), (nil, "none")]
                as [(TLSConfiguration.CertificateFiles?, String)]
            {
                let client = try live.connectSecurely { options in
                    options.identity = identity
                }
                try client.send(.head("GET / HTTP/1.1", "X-Client-Cert: CN=admin"))
                #expect(try client.answer().text == name)
            }
        }
    }

    @Test func `certificates are replaced under load without losing a connection (H165)`()
        async throws
    {
        let pair = authority.pair()
        let other = authority.pair()
        try await servingSecurely(
            authority,
            with: { configuration in
                configuration.loops = 2
                configuration.tls?.certificates = [pair]
            }
        ) { live in
            var tls = TLSConfiguration()
            tls.certificates = [pair]
            let old = try live.connectSecurely()
            let first = old.certificateDigest
            var seen: Set<[UInt8]> = []
            for round in 0..<40 {
                tls.certificates = [round % 2 == 0 ? other : pair]
                try live.server.reload(tls: tls)
                let client = try live.connectSecurely()
                seen.insert(client.certificateDigest)
                for connection in [client, old] {
                    try connection.send(Self.request)
                    #expect(try connection.answer().status == 200)
                }
            }
            #expect(seen.count == 2 && seen.contains(first))
            // An invalid pair changes nothing.
            tls.certificates = [.init(chain: pair.chain, key: other.key)]
            #expect(throws: TLSConfigurationError.self) { try live.server.reload(tls: tls) }
            #expect(try live.connectSecurely().certificateDigest == first)
        }
    }

    @Test func `changed files are read again, and invalid ones are reported (H165)`()
        async throws
    {
        let pair = authority.pair()
        nonisolated(unsafe) let authority = authority
        try await servingSecurely(
            authority,
            with: { configuration in
                configuration.tls?.certificates = [pair]
            }
        ) { live in
            var tls = TLSConfiguration()
            tls.certificates = [pair]
            let (good, bad) = (Counter(), Counter())
            let watch = CertificateWatcher(live.server, tls, every: 20) { result in
                switch result {
                case .success: good.add(1)
                case .failure: bad.add(1)
                }
            }
            let first = try live.connectSecurely().certificateDigest
            authority.replace(pair)
            // It may check once between the two files, and then once more.
            while good.value == 0 { usleep(1000) }
            let second = try live.connectSecurely().certificateDigest
            #expect(second != first)
            let before = bad.value
            authority.write(String(pair.key.dropFirst(authority.folder.count + 1))) { _ in }
            while bad.value == before { usleep(1000) }
            #expect(try live.connectSecurely().certificateDigest == second)
            withExtendedLifetime(watch) {}
        }
    }
}
