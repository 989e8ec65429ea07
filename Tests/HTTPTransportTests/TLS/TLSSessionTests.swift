import COpenSSL
import Glibc
import HTTP
import Testing

@testable import HTTPTransport

@Suite struct `TLS sessions` {
    private let authority = TestAuthority()
    private let now = Int64(time(nil))

    private func context(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> TLSContext
    {
        var configuration = TLSConfiguration()
        configuration.certificates = [authority.pair()]
        change(&configuration)
        return try TLSContext(
            configuration, tickets: TicketKeys(rotation: configuration.ticketRotation), at: now)
    }

    // MARK: Octets

    @Test(arguments: [1, 5, 7, 1000, 16_389, .max], [1, 3, 4096, 65_536])
    func `plaintext passes both ways, however ciphertext is cut and room is left (H215)`(
        cut: Int, room: Int
    ) throws {
        let peer = TLSPeer(try context())
        peer.talk(cut: cut)
        #expect(peer.isEstablished)
        let up = TestFile.pattern(room < 4096 ? 3000 : 70_000)
        peer.say(up)
        peer.talk(cut: cut, room: room)
        #expect(peer.received == up)
        let down = TestFile.pattern(100_000)
        #expect(peer.serverSays(down) == down)
    }

    @Test func `records of one octet are plaintext like any other (H172)`() throws {
        let peer = TLSPeer(try context())
        peer.talk()
        let text = TestFile.pattern(500)
        for octet in text { peer.say([octet]) }
        peer.talk(cut: 11)
        #expect(peer.received == text)
    }

    @Test func `the peer's goodbye is told from silence (H170)`() throws {
        let peer = TLSPeer(try context())
        peer.talk()
        #expect(peer.last == .needsInput)
        SSL_shutdown(peer.ssl)
        peer.talk()
        #expect(peer.last == .ended)
    }

    @Test func `our goodbye reaches the peer, once (H170)`() throws {
        let peer = TLSPeer(try context())
        peer.talk()
        peer.session.sayGoodbye()
        let size = peer.session.wire.output.count
        peer.session.sayGoodbye()
        #expect(size > 0 && peer.session.wire.output.count == size)
        peer.hear([])
        #expect(peer.heard() == [])
        #expect(SSL_get_shutdown(peer.ssl) & SSL_RECEIVED_SHUTDOWN != 0)
    }

    @Test func `octets that are no TLS break the session with an alert (H169)`() throws {
        let peer = TLSPeer(try context())
        peer.hear(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(peer.last == .broken)
    }

    @Test func `a forged record breaks the session (H159)`() throws {
        let peer = TLSPeer(try context())
        peer.talk()
        peer.hear([23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32))
        #expect(peer.last == .broken)
        #expect(peer.clientsFault().contains("bad record mac"))
        #expect(!peer.session.write(UnsafeRawBufferPointer(start: nil, count: 0)))
    }

    @Test func `a hello above 16 KiB is refused before it is whole (H168)`() throws {
        let peer = TLSPeer(try context())
        // A handshake message that announces 100,000 octets, in records of 16,000.
        var hello: [UInt8] = [1, 1, 0x86, 0xA0, 3, 3]
        hello += [UInt8](repeating: 0, count: 100_000 - 2)
        for start in stride(from: 0, to: 32_000, by: 16_000) {
            peer.hear([22, 3, 1, 0x3E, 0x80] + hello[start..<start + 16_000])
        }
        #expect(peer.last == .broken)
    }

    // MARK: Policy

    @Test(arguments: [TLS1_VERSION, TLS1_1_VERSION])
    func `older versions are refused (H159)`(version: Int32) throws {
        let peer = TLSPeer(try context()) { manners in
            manners.minimum = version
            manners.maximum = version
        }
        peer.talk()
        #expect(!peer.isEstablished)
        #expect(peer.clientsFault().contains("alert protocol version"))
    }

    @Test(arguments: [
        "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA",
        "DHE-RSA-AES128-GCM-SHA256", "AECDH-AES128-SHA", "ECDHE-ECDSA-AES128-CCM",
    ])
    func `suites without forward secrecy or authenticated encryption are refused (H159)`(
        suite: String
    ) throws {
        let peer = TLSPeer(try context()) { manners in
            manners.maximum = TLS1_2_VERSION
            manners.suites12 = suite + ":@SECLEVEL=0"
        }
        peer.talk()
        #expect(!peer.isEstablished)
    }

    @Test(arguments: [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
    ])
    func `TLS 1.2 has the suites of RFC 9325 and extended master secret (H159)`(suite: String)
        throws
    {
        let peer = TLSPeer(try context()) { manners in
            manners.maximum = TLS1_2_VERSION
            manners.suites12 = suite
        }
        peer.talk()
        #expect(peer.isEstablished)
        #expect(String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(peer.ssl))) == suite)
        #expect(SSL_ctrl(peer.ssl, SSL_CTRL_GET_EXTMS_SUPPORT, 0, nil) == 1)
    }

    @Test(arguments: [("X25519", true), ("P-256", true), ("P-384", true), ("P-521", false)])
    func `three groups are spoken (H160)`(group: String, isSpoken: Bool) throws {
        let peer = TLSPeer(try context()) { manners in manners.groups = group }
        peer.talk()
        #expect(peer.isEstablished == isSpoken)
    }

    @Test func `renegotiation is refused (H159)`() throws {
        let peer = TLSPeer(try context()) { manners in manners.maximum = TLS1_2_VERSION }
        peer.talk()
        SSL_renegotiate(peer.ssl)
        SSL_do_handshake(peer.ssl)
        peer.talk()
        #expect(peer.clientsFault().contains("no renegotiation"))
    }

    @Test func `no early data is offered (H161)`() throws {
        let peer = TLSPeer(try context())
        peer.talk()
        let session = SSL_get1_session(peer.ssl)
        defer { SSL_SESSION_free(session) }
        #expect(SSL_SESSION_is_resumable(session) == 1)
        #expect(SSL_SESSION_get_max_early_data(session) == 0)
    }

    @Test func `http 1.1 is the only protocol, and offering none is as good (H162)`() throws {
        let http11 = [8] + Array("http/1.1".utf8)
        let h2 = [2] + Array("h2".utf8)
        let server = try context()
        for (offer, isSpoken) in [(http11, true), (h2 + http11, true), (h2, false), ([], true)] {
            let peer = TLSPeer(server) { manners in manners.protocols = offer }
            peer.talk()
            #expect(peer.isEstablished == isSpoken)
            if !isSpoken {
                #expect(peer.clientsFault().contains("no application protocol"))
            }
            var chosen: UnsafePointer<UInt8>?
            var count: UInt32 = 0
            SSL_get0_alpn_selected(peer.ssl, &chosen, &count)
            #expect(count == (isSpoken && !offer.isEmpty ? 8 : 0))
        }
    }

    @Test func `key updates are accepted, but no flood of them (H172)`() throws {
        let peer = TLSPeer(try context())
        peer.talk()
        for _ in 0..<40 {
            SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED)
            peer.say([7])
            peer.talk()
        }
        #expect(peer.received.count == 40)
        for _ in 0..<33 {
            SSL_key_update(peer.ssl, SSL_KEY_UPDATE_NOT_REQUESTED)
            SSL_do_handshake(peer.ssl)
        }
        peer.talk()
        #expect(peer.last == .broken)
    }

    // MARK: Names

    @Test func `the name picks the certificate, exact before wildcard, in any case (H163)`() throws
    {
        let server = try context { configuration in
            configuration.certificates = [
                ["DNS:default.test"], ["DNS:*.example.com"], ["DNS:chat.example.com"],
            ].map { names in authority.pair { wish in wish.names = names } }
        }
        for (name, index) in [
            ("chat.example.com", 2), ("CHAT.Example.COM", 2), ("other.example.com", 1),
            ("a.b.example.com", 0), ("example.com", 0), ("default.test", 0), (nil, 0),
        ] as [(String?, Int)] {
            let peer = TLSPeer(server) { manners in manners.name = name }
            peer.talk()
            #expect(peer.isEstablished)
            #expect(peer.session.certificate == index, "\(name ?? "no name")")
            #expect(peer.session.serverName == name.map { name in CertificateNames.folded(name) })
        }
    }

    @Test func `unknown names can be refused; no name is none (H163)`() throws {
        let server = try context { configuration in configuration.unknownName = .reject }
        for (name, isServed) in [("localhost", true), ("other.test", false), (nil, true)]
            as [(String?, Bool)]
        {
            let peer = TLSPeer(server) { manners in manners.name = name }
            peer.talk()
            #expect(peer.isEstablished == isServed)
            if !isServed { #expect(peer.clientsFault().contains("unrecognized name")) }
        }
    }

    // MARK: Tickets

    /// The client's session after one exchange; the caller frees it.
    private func session(_ server: TLSContext, _ version: Int32, name: String = "localhost")
        -> OpaquePointer?
    {
        let peer = TLSPeer(server) { manners in
            manners.maximum = version
            manners.name = name
        }
        peer.talk()
        defer { peer.close() }
        return SSL_get1_session(peer.ssl)
    }

    private func resumes(
        _ session: OpaquePointer?, _ server: TLSContext, _ version: Int32,
        name: String = "localhost"
    ) -> Bool {
        let peer = TLSPeer(server) { manners in
            manners.maximum = version
            manners.name = name
            manners.session = session
        }
        peer.talk()
        #expect(peer.isEstablished)
        return peer.session.isResumed
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `tickets resume a session, under the same name only (H164)`(version: Int32) throws {
        let server = try context { configuration in
            configuration.certificates = [
                authority.pair { wish in wish.names = ["DNS:localhost", "DNS:other.test"] }
            ]
        }
        let known = session(server, version)
        defer { SSL_SESSION_free(known) }
        #expect(resumes(known, server, version))
        #expect(!resumes(known, server, version, name: "other.test"))
        let lifetime = SSL_SESSION_get_ticket_lifetime_hint(known)
        #expect(lifetime > 0 && lifetime <= 86_400)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `tickets can be disabled (H164)`(version: Int32) throws {
        let server = try context { configuration in configuration.hasTickets = false }
        let known = session(server, version)
        defer { SSL_SESSION_free(known) }
        #expect(!resumes(known, server, version))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a ticket of another server is no ticket (H164)`(version: Int32) throws {
        let pair = authority.pair()
        let (one, other) = (
            try context { configuration in configuration.certificates = [pair] },
            try context { configuration in configuration.certificates = [pair] }
        )
        let known = session(one, version)
        defer { SSL_SESSION_free(known) }
        #expect(!resumes(known, other, version))
    }

    @Test func `a resumption that drops extended master secret is refused (H159)`() throws {
        let server = try context()
        let known = session(server, TLS1_2_VERSION)
        defer { SSL_SESSION_free(known) }
        let peer = TLSPeer(server) { manners in
            manners.maximum = TLS1_2_VERSION
            manners.session = known
            manners.options = 1  // SSL_OP_NO_EXTENDED_MASTER_SECRET
        }
        peer.talk()
        #expect(!peer.isEstablished)
    }

    // MARK: Clients' certificates

    private func asking(_ mode: TLSConfiguration.ClientCertificates) throws -> TLSContext {
        try context { configuration in
            configuration.clientCertificates = mode
            configuration.clientBundle = authority.bundle
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a good certificate becomes a verified identity (H167)`(version: Int32) throws {
        let pair = authority.pair { wish in
            wish.subject = "billing, north"
            wish.usage = "clientAuth"
        }
        for mode in [TLSConfiguration.ClientCertificates.required, .optional] {
            let server = try asking(mode)
            var known: OpaquePointer?
            for _ in 0..<2 {
                let peer = TLSPeer(server) { manners in
                    manners.maximum = version
                    manners.identity = pair
                    manners.session = known
                }
                peer.talk()
                #expect(peer.isEstablished)
                // Also when the session is resumed.
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
    func `none is refused where one is required, and anonymous elsewhere (H167)`(version: Int32)
        throws
    {
        for (mode, isServed) in [
            (TLSConfiguration.ClientCertificates.required, false), (.optional, true), (.off, true),
        ] {
            let peer = TLSPeer(try asking(mode)) { manners in manners.maximum = version }
            peer.talk()
            #expect(peer.isEstablished == isServed)
            #expect(peer.session.client == nil)
            if !isServed {
                let fault = peer.clientsFault()
                #expect(
                    fault.contains("certificate required") || fault.contains("handshake failure"))
            }
        }
    }

    @Test func `a wrong certificate is refused in either mode (H167)`() throws {
        let stranger = TestAuthority(name: "another authority")
        let wrong = [
            stranger.pair { wish in wish.usage = "clientAuth" },
            authority.pair { wish in
                wish.usage = "clientAuth"
                wish.validity = -7200 ... -3600
            },
            authority.pair { wish in wish.usage = "serverAuth" },
        ]
        for mode in [TLSConfiguration.ClientCertificates.required, .optional] {
            for pair in wrong {
                let peer = TLSPeer(try asking(mode)) { manners in
                    manners.identity = pair
                }
                peer.talk()
                #expect(!peer.session.isEstablished)
                #expect(peer.clientsFault().contains("alert"))
            }
        }
    }

    @Test func `asking without a bundle is refused at start (H167)`() {
        #expect(
            throws: TLSFault(
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
        // The same policy after a reload: the session goes on.
        #expect(resumes(known, again, TLS1_3_VERSION))
        configuration.clientCertificates = .optional
        configuration.clientBundle = authority.bundle
        let after = try TLSContext(configuration, tickets: tickets, at: now)
        #expect(!resumes(known, after, TLS1_3_VERSION))
    }
}
