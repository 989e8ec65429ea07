import COpenSSL
import Glibc
import HTTP
import Testing

@testable import HTTPTransport

// Which certificate is sent, and which client certificates are accepted.
extension `TLS sessions` {
    @Test func `the name selects the certificate, exact before wildcard, in any case (H163)`()
        throws
    {
        let server = try context { configuration in
            configuration.certificates = [
                ["DNS:default.test"], ["DNS:*.example.com"], ["DNS:chat.example.com"],
            ].map { names in authority.pair { options in options.names = names } }
        }
        for (name, index) in [
            ("chat.example.com", 2), ("CHAT.Example.COM", 2), ("other.example.com", 1),
            ("a.b.example.com", 0), ("example.com", 0), ("default.test", 0), (nil, 0),
        ] as [(String?, Int)] {
            let peer = TLSPeer(server) { options in options.name = name }
            peer.exchange()
            #expect(peer.isEstablished)
            #expect(peer.session.certificate == index, "\(name ?? "no name")")
            #expect(peer.session.serverName == name.map { name in CertificateNames.folded(name) })
        }
    }

    @Test func `unknown names can be refused, a missing name is accepted (H163)`() throws {
        let server = try context { configuration in configuration.unknownName = .reject }
        for (name, isServed) in [("localhost", true), ("other.test", false), (nil, true)]
            as [(String?, Bool)]
        {
            let peer = TLSPeer(server) { options in options.name = name }
            peer.exchange()
            #expect(peer.isEstablished == isServed)
            if !isServed { #expect(peer.clientError().contains("unrecognized name")) }
        }
    }

    private func asking(_ mode: TLSConfiguration.ClientCertificates) throws -> TLSContext {
        try context { configuration in
            configuration.clientCertificates = mode
            configuration.clientBundle = authority.bundle
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a valid certificate becomes a verified identity (H167)`(version: Int32) throws {
        let pair = authority.pair { options in
            options.subject = "billing, north"
            options.usage = "clientAuth"
        }
        for mode in [TLSConfiguration.ClientCertificates.required, .optional] {
            let server = try asking(mode)
            var known: OpaquePointer?
            for _ in 0..<2 {
                let peer = TLSPeer(server) { options in
                    options.maximum = version
                    options.identity = pair
                    options.session = known
                }
                peer.exchange()
                #expect(peer.isEstablished)
                // Also in the resumed session.
                #expect(peer.session.isResumed == (known != nil))
                #expect(peer.session.client?.subject == "CN=billing\\, north")
                #expect(peer.session.client?.digest.count == 32)
                SSL_SESSION_free(known)
                known = SSL_get1_session(peer.ssl)
                peer.close()
            }
            SSL_SESSION_free(known)
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a client without certificate is refused where one is required, else anonymous (H167)`(
        version: Int32
    )
        throws
    {
        for (mode, isServed) in [
            (TLSConfiguration.ClientCertificates.required, false), (.optional, true), (.off, true),
        ] {
            let peer = TLSPeer(try asking(mode)) { options in options.maximum = version }
            peer.exchange()
            #expect(peer.isEstablished == isServed)
            #expect(peer.session.client == nil)
            if !isServed {
                let fault = peer.clientError()
                #expect(
                    fault.contains("certificate required") || fault.contains("handshake failure"))
            }
        }
    }

    @Test func `an invalid certificate is refused in either mode (H167)`() throws {
        let otherAuthority = TestAuthority(name: "another authority")
        let wrong = [
            otherAuthority.pair { options in options.usage = "clientAuth" },
            authority.pair { options in
                options.usage = "clientAuth"
                options.validity = -7200 ... -3600
            },
            authority.pair { options in options.usage = "serverAuth" },
        ]
        for mode in [TLSConfiguration.ClientCertificates.required, .optional] {
            for pair in wrong {
                let peer = TLSPeer(try asking(mode)) { options in
                    options.identity = pair
                }
                peer.exchange()
                #expect(!peer.session.isEstablished)
                #expect(peer.clientError().contains("alert"))
            }
        }
    }

    @Test func `client certificates without a bundle are refused at start (H167)`() {
        #expect(
            throws: TLSConfigurationError(
                "client certificates need a bundle of the authorities that sign them")
        ) { try context { configuration in configuration.clientCertificates = .required } }
    }

    @Test func `a session from before client certificates is not resumed (H164)`() throws {
        let pair = authority.pair()
        let tickets = TicketKeys(rotation: 43_200_000)
        var configuration = TLSConfiguration()
        configuration.certificates = [pair]
        let before = try TLSContext(configuration, tickets: tickets, at: now)
        let known = session(before, TLS1_3_VERSION)
        defer { SSL_SESSION_free(known) }
        let again = try TLSContext(configuration, tickets: tickets, at: now)
        // The same policy after a reload: the session is resumed.
        #expect(resumes(known, again, TLS1_3_VERSION))
        configuration.clientCertificates = .optional
        configuration.clientBundle = authority.bundle
        let after = try TLSContext(configuration, tickets: tickets, at: now)
        #expect(!resumes(known, after, TLS1_3_VERSION))
    }
}
