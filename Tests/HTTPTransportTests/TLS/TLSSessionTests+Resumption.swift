import COpenSSL
import Glibc
import HTTP
import Testing

@testable import HTTPTransport

// Resumption by tickets.
extension `TLS sessions` {
    /// The client's session after one exchange; the caller frees it.
    func session(_ server: TLSContext, _ version: Int32, name: String = "localhost")
        -> OpaquePointer?
    {
        let peer = TLSPeer(server) { options in
            options.maximum = version
            options.name = name
        }
        peer.exchange()
        defer { peer.close() }
        return SSL_get1_session(peer.ssl)
    }

    func resumes(
        _ session: OpaquePointer?, _ server: TLSContext, _ version: Int32,
        name: String = "localhost"
    ) -> Bool {
        let peer = TLSPeer(server) { options in
            options.maximum = version
            options.name = name
            options.session = session
        }
        peer.exchange()
        #expect(peer.isEstablished)
        return peer.session.isResumed
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `tickets resume a session, under the same name only (H164)`(version: Int32) throws {
        let server = try context { configuration in
            configuration.certificates = [
                authority.pair { options in options.names = ["DNS:localhost", "DNS:other.test"] }
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
    func `a ticket of another server is ignored (H164)`(version: Int32) throws {
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
        let peer = TLSPeer(server) { options in
            options.maximum = TLS1_2_VERSION
            options.session = known
            options.options = 1  // SSL_OP_NO_EXTENDED_MASTER_SECRET
        }
        peer.exchange()
        #expect(!peer.isEstablished)
    }
}
