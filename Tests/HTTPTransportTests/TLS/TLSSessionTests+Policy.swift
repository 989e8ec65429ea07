import COpenSSL
import Glibc
import HTTP
import Testing

@testable import HTTPTransport

// Versions, suites and groups that are supported or refused.
extension `TLS sessions` {
    @Test(arguments: [TLS1_VERSION, TLS1_1_VERSION])
    func `older versions are refused (H159)`(version: Int32) throws {
        let peer = TLSPeer(try context()) { options in
            options.minimum = version
            options.maximum = version
        }
        peer.exchange()
        #expect(!peer.isEstablished)
        #expect(peer.clientError().contains("alert protocol version"))
    }

    @Test(arguments: [
        "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA",
        "DHE-RSA-AES128-GCM-SHA256", "AECDH-AES128-SHA", "ECDHE-ECDSA-AES128-CCM",
    ])
    func `suites without forward secrecy or authenticated encryption are refused (H159)`(
        suite: String
    ) throws {
        let peer = TLSPeer(try context()) { options in
            options.maximum = TLS1_2_VERSION
            options.suites12 = suite + ":@SECLEVEL=0"
        }
        peer.exchange()
        #expect(!peer.isEstablished)
    }

    @Test(arguments: [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
    ])
    func `TLS 1.2 has the suites of RFC 9325 and extended master secret (H159)`(suite: String)
        throws
    {
        let peer = TLSPeer(try context()) { options in
            options.maximum = TLS1_2_VERSION
            options.suites12 = suite
        }
        peer.exchange()
        #expect(peer.isEstablished)
        #expect(String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(peer.ssl))) == suite)
        #expect(SSL_ctrl(peer.ssl, SSL_CTRL_GET_EXTMS_SUPPORT, 0, nil) == 1)
    }

    @Test(arguments: [("X25519", true), ("P-256", true), ("P-384", true), ("P-521", false)])
    func `three groups are supported (H160)`(group: String, isSpoken: Bool) throws {
        let peer = TLSPeer(try context()) { options in options.groups = group }
        peer.exchange()
        #expect(peer.isEstablished == isSpoken)
    }

    @Test func `renegotiation is refused (H159)`() throws {
        let peer = TLSPeer(try context()) { options in options.maximum = TLS1_2_VERSION }
        peer.exchange()
        SSL_renegotiate(peer.ssl)
        SSL_do_handshake(peer.ssl)
        peer.exchange()
        #expect(peer.clientError().contains("no renegotiation"))
    }

    @Test func `no early data is offered (H161)`() throws {
        let peer = TLSPeer(try context())
        peer.exchange()
        let session = SSL_get1_session(peer.ssl)
        defer { SSL_SESSION_free(session) }
        #expect(SSL_SESSION_is_resumable(session) == 1)
        #expect(SSL_SESSION_get_max_early_data(session) == 0)
    }

    @Test func `http/1.1 is the only protocol, and a client may offer none (H162)`() throws {
        let http11 = [8] + Array("http/1.1".utf8)
        let h2 = [2] + Array("h2".utf8)
        let server = try context()
        for (offer, isSpoken) in [(http11, true), (h2 + http11, true), (h2, false), ([], true)] {
            let peer = TLSPeer(server) { options in options.protocols = offer }
            peer.exchange()
            #expect(peer.isEstablished == isSpoken)
            if !isSpoken {
                #expect(peer.clientError().contains("no application protocol"))
            }
            var chosen: UnsafePointer<UInt8>?
            var count: UInt32 = 0
            SSL_get0_alpn_selected(peer.ssl, &chosen, &count)
            #expect(count == (isSpoken && !offer.isEmpty ? 8 : 0))
        }
    }

    @Test func `key updates are accepted up to a limit (H172)`() throws {
        let peer = TLSPeer(try context())
        peer.exchange()
        for _ in 0..<40 {
            SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED)
            peer.send([7])
            peer.exchange()
        }
        #expect(peer.received.count == 40)
        for _ in 0..<33 {
            SSL_key_update(peer.ssl, SSL_KEY_UPDATE_NOT_REQUESTED)
            SSL_do_handshake(peer.ssl)
        }
        peer.exchange()
        #expect(peer.last == .broken)
    }
}
