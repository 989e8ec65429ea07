import Bytes
import FoundationEssentials
import HTTP
import Messaging
import MessagingStore
import Readers
import Testing

@testable import ParleyServer

@Suite struct `Exports` {
    @Test func `are created, signed and served until they are deleted (5_12)`() async throws {
        let testServer = TestServer()
        let components = try await testServer.components()
        let application = try await components.store.createApplication(name: "Sample").id
        let secret = try await components.store.createToken(for: application, scope: .admin).secret
        let head = [
            ("Authorization", "Bearer \(secret)"),
            ("Accept", "application/vnd.layer+json; version=3.0"),
        ]
        let root = "/apps/\(application.uuid)"
        let key = try #require(PublicKey(pem: Self.pem))
        try await components.store.setExportKey(
            ExportKey(pem: Self.pem, der: key.der), in: application)

        let requested = await components.service.response(
            to: .post, "\(root)/exports", fields: head)
        #expect(requested.status == .accepted)
        let id = try #require(
            try await components.store.exports(limit: 1, in: application).items.first?.id)
        let status = "\(root)/exports/\(id.uuid)/status"
        let waiting = await components.service.response(to: .get, status, fields: head)
        #expect(waiting.status == .accepted)
        try await components.exporter.work()
        let done = await components.service.response(to: .get, status, fields: head)
        #expect(done.status == .ok)

        let text = String(decoding: done.bytes, as: UTF8.self)
        let base = testServer.settings.base
        let url = try #require(
            text.split(separator: "\"").first { $0.hasPrefix("\(base)/download/") })
        let path = String(url.dropFirst(base.count))
        let archive = await components.service.response(to: .get, path)
        #expect(archive.status == .ok)
        #expect(archive.fields["Content-Disposition"]?.contains("export.tar.gz.enc") == true)
        let forged = await components.service.response(to: .get, path + "x")
        #expect(forged.status == .forbidden)

        let deleted = await components.service.response(
            to: .delete, "\(root)/exports/\(id.uuid)", fields: head)
        #expect(deleted.status == .noContent)
        let gone = await components.service.response(to: .get, path)
        #expect(gone.status == .notFound)
        await components.exporter.stop()
        components.close()
    }

    private static let pem = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtMq5DqI/3bEQGZkj3bQo
        UN8Xd6spqJriyRlkNa50HNlU8mChGK7TK5mUifvGiyDyW7I15kJVfNXvOrRWnXEZ
        WMHOePe2kSyUFxEtdO/c2rLPTG4yEb7K5UcklDE6iprXY6KqExaFGBMeQ6T/6mVM
        ashZrbp76ztL47jUng8u7gYZMbxoVJNoHSw9leE6O5Y3KzD5tn8xDKfAo4fRE3WB
        waxFQhT/mijcHZKQVCVeKq0bU9Sf3bMnrfnT9Ny0TjEc93CMIFTHOWw7RsLjdacg
        oflLATlBLbt0cjXZTSH/iWOjgygvFihZ2l9aH7203fC7hCwq509TECnVuBeYpIyP
        nQIDAQAB
        -----END PUBLIC KEY-----
        """
}
