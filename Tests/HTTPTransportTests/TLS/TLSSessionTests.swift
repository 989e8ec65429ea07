import COpenSSL
import Glibc
import HTTP
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct `TLS sessions` {
    let authority = TestAuthority()
    let now = Int64(time(nil))

    func context(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> TLSContext {
        var configuration = TLSConfiguration()
        configuration.certificates = [authority.pair()]
        change(&configuration)
        return try TLSContext(
            configuration, tickets: TicketKeys(rotation: configuration.ticketRotation), at: now)
    }

    @Test(arguments: [1, 5, 7, 1000, 16_389, .max], [1, 3, 4096, 65_536])
    func `plaintext passes both ways, however ciphertext is split and buffers are sized (H215)`(
        cut: Int, capacity: Int
    ) throws {
        let peer = TLSPeer(try context())
        peer.exchange(cut: cut)
        #expect(peer.isEstablished)
        let up = patternBytes(capacity < 4096 ? 3000 : 70_000)
        peer.send(up)
        peer.exchange(cut: cut, capacity: capacity)
        #expect(peer.received == up)
        let down = patternBytes(100_000)
        #expect(peer.serverSends(down) == down)
    }

    @Test func `records of one byte are accepted (H172)`() throws {
        let peer = TLSPeer(try context())
        peer.exchange()
        let text = patternBytes(500)
        for byte in text { peer.send([byte]) }
        peer.exchange(cut: 11)
        #expect(peer.received == text)
    }

    @Test func `the peer's close_notify ends the session, silence does not (H170)`() throws {
        let peer = TLSPeer(try context())
        peer.exchange()
        #expect(peer.last == .needsInput)
        SSL_shutdown(peer.ssl)
        peer.exchange()
        #expect(peer.last == .ended)
    }

    @Test func `our close_notify reaches the peer, once (H170)`() throws {
        let peer = TLSPeer(try context())
        peer.exchange()
        peer.session.sendCloseNotify()
        let size = peer.session.tlsBuffers.output.count
        peer.session.sendCloseNotify()
        #expect(size > 0 && peer.session.tlsBuffers.output.count == size)
        peer.serverReceives([])
        #expect(peer.clientReceives() == [])
        #expect(SSL_get_shutdown(peer.ssl) & SSL_RECEIVED_SHUTDOWN != 0)
    }

    @Test func `bytes that are not TLS break the session with an alert (H169)`() throws {
        let peer = TLSPeer(try context())
        peer.serverReceives(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(peer.last == .broken)
    }

    @Test func `a forged record breaks the session (H159)`() throws {
        let peer = TLSPeer(try context())
        peer.exchange()
        peer.serverReceives([23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32))
        #expect(peer.last == .broken)
        #expect(peer.clientError().contains("bad record mac"))
        #expect(!peer.session.write(UnsafeRawBufferPointer(start: nil, count: 0)))
    }

    @Test func `a hello above 16 KiB is refused before it is whole (H168)`() throws {
        let peer = TLSPeer(try context())
        // A handshake message that announces 100,000 bytes, in records of 16,000.
        var hello: [UInt8] = [1, 1, 0x86, 0xA0, 3, 3]
        hello += [UInt8](repeating: 0, count: 100_000 - 2)
        for start in stride(from: 0, to: 32_000, by: 16_000) {
            peer.serverReceives([22, 3, 1, 0x3E, 0x80] + hello[start..<start + 16_000])
        }
        #expect(peer.last == .broken)
    }
}
