import HTTPClient
import Locking
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(5))) struct `A part with its CRC-32C` {
    private let heard = Locked<[(head: String, body: String)]>([])

    @Test func `says so at the beginning, with each part and at the end (§10.4)`() async throws {
        let server = try server(of: "<ChecksumAlgorithm>CRC32C</ChecksumAlgorithm>")
        let key = try Workplace.key()
        let store = try store(at: server)
        let upload = try await store.createMultipart(key, type: "a/b")
        // Of "123456789" it is E3069283 (RFC 3720, B.4).
        let part = try await store.putPart(
            key, upload: upload, number: 1, .octets(Array("123456789".utf8)))
        try await store.complete(key, upload: upload, [part])
        let said = heard.withLock { $0 }
        #expect(said.map { $0.head.prefix { $0 != " " } } == ["POST", "PUT", "GET", "POST"])
        #expect(said[0].head.contains("\r\nx-amz-checksum-algorithm: CRC32C\r\n"))
        #expect(said[1].head.contains("\r\nx-amz-checksum-crc32c: 4waSgw==\r\n"))
        #expect(said[1].head.contains("SignedHeaders=host;x-amz-checksum-crc32c;"))
        #expect(
            said[3].body.contains(
                "<ETag>\"t\"</ETag><ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part>"))
    }

    @Test(arguments: [
        ("<ChecksumAlgorithm>CRC32C</ChecksumAlgorithm>", true),
        ("<ChecksumAlgorithm>SHA256</ChecksumAlgorithm>", false), ("", false),
    ])
    func `is one where another process began so, as the store says (§10.4)`(
        algorithm: String, isSummed: Bool
    ) async throws {
        let server = try server(of: algorithm)
        let store = try store(at: server)
        let key = try Workplace.key()
        for number in 1...2 {
            _ = try await store.putPart(key, upload: "u", number: number, .octets([1]))
        }
        let said = heard.withLock { $0 }
        // Asked once.
        #expect(said.map { $0.head.prefix { $0 != " " } } == ["GET", "PUT", "PUT"])
        #expect(said[2].head.contains("x-amz-checksum-crc32c") == isSummed)
    }

    @Test func `is none where nobody wants it`() async throws {
        let server = try server(of: "")
        let key = try Workplace.key()
        let store = try store(at: server) { $0.sumsParts = false }
        let upload = try await store.createMultipart(key, type: "a/b")
        let part = try await store.putPart(key, upload: upload, number: 1, .octets([1]))
        try await store.complete(key, upload: upload, [part])
        #expect(heard.withLock { $0.count } == 3)
        #expect(heard.withLock { $0.allSatisfy { !$0.head.contains("checksum") } })
    }

    @Test func `is not remembered for ever, of uploads that others may have ended`() throws {
        let store = try store(at: try server(of: ""))
        for number in 0..<3 * ObjectStore.mostSummed {
            store.note("u\(number)", isSummed: true)
            #expect(store.summed.withLock { $0["u\(number)"] } == true)
        }
        #expect(store.summed.withLock { $0.count } <= ObjectStore.mostSummed)
    }

    /// A store that takes everything, and says of an upload what it is told to.
    private func server(of algorithm: String) throws -> ScriptedServer {
        let heard = heard
        return try ScriptedServer { connection in
            while let head = connection.readHead() {
                let length =
                    head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                    .flatMap { Int($0.dropFirst(16)) } ?? 0
                let body = length > 0 ? connection.read(length) ?? [] : []
                heard.withLock { $0.append((head, String(decoding: body, as: UTF8.self))) }
                let answer =
                    if head.hasPrefix("GET") {
                        "<ListPartsResult>\(algorithm)<IsTruncated>false</IsTruncated>"
                            + "<Part><PartNumber>1</PartNumber><Size>9</Size><ETag>\"t\"</ETag>"
                            + "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part></ListPartsResult>"
                    } else if head.contains("uploads=") {
                        "<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                            + "</InitiateMultipartUploadResult>"
                    } else {
                        "<CompleteMultipartUploadResult><ETag>\"t\"</ETag>"
                            + "</CompleteMultipartUploadResult>"
                    }
                connection.write(
                    "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: \(answer.utf8.count)\r\n\r\n"
                        + answer)
            }
        }
    }

    private func store(
        at server: ScriptedServer, _ change: (inout ObjectStoreSettings) -> Void = { _ in }
    ) throws -> ObjectStore {
        var settings = ObjectStoreSettings(
            endpoint: "http://127.0.0.1:\(server.port)", bucket: "parley",
            credentials: Credentials(accessKey: "a", secretKey: "b"), sumsParts: true)
        change(&settings)
        return try ObjectStore(settings, clock: ObjectStoreClock(now: { 0 }, sleep: { _ in }))
    }
}
