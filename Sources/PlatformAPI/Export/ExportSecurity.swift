import Archives
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PUT /export_security` (platform-api §5.12): an RSA key of 2048 bits at least.
    func setExportKey(_ body: JSONValue) async throws -> Reply {
        let pem = try ExportKeyJSON.read(body.asObject())
        guard let key = PublicKey(pem: pem) else { throw Rejection.invalid("public_key", .rsaKey) }
        let set = ExportKey(pem: pem, der: key.der)
        try await store.setExportKey(set, in: application)
        return Reply(.ok, json(set))
    }

    /// `GET /export_security` (platform-api §5.12).
    func readExportKey() async throws -> Reply {
        Reply(.ok, json(try await store.exportKey(in: application)))
    }

    private func json(_ key: ExportKey) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        ExportKeyJSON.write(key, into: &writer)
        return writer.finish()
    }
}
