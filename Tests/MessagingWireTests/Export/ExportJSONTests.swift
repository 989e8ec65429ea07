import JSON
import Messaging
import Testing

@testable import MessagingWire

@Suite struct `An export in JSON` {
    private let links = LinkBuilder(publicBase: "https://chat.example.com", application: .sample)

    @Test func `has a download URL when completed, and none when expired (5_12)`() throws {
        var export = Export(
            id: .sample, scope: .historical, publicKey: [1, 2, 3],
            createdAt: Timestamp(milliseconds: 0))
        export.startedAt = Timestamp(milliseconds: 1)
        #expect(try shown(export)["status"]?.string == "executing")
        export.completedAt = Timestamp(milliseconds: 2)
        export.archive = Export.Archive(
            size: 9, sha256: [], crc32c: 0, encryptedKey: [0xFF], initialVector: [0])
        let completed = try shown(export)
        #expect(completed["status"]?.string == "completed")
        #expect(completed["download_url"]?.string == "https://chat.example.com/signed")
        #expect(completed["download_url_expires_at"]?.string == "1970-01-01T00:00:05.000Z")
        #expect(completed["encrypted_aes_key"]?.string == "/w==")
        #expect(completed["aes_iv"]?.string == "AA==")
        #expect(completed["public_key"]?.string == "AQID")
        export.expiredAt = Timestamp(milliseconds: 3)
        let expired = try shown(export)
        #expect(expired["download_url"]?.isNull == true)
        #expect(expired["expired_at"]?.string == "1970-01-01T00:00:00.003Z")
    }

    @Test func `has its type (5_12)`() throws {
        let period = Export.Period(after: .start, through: .start, topics: [.messageSent])
        let export = Export(
            id: .sample, scope: .scheduled(period), publicKey: [],
            createdAt: Timestamp(milliseconds: 0))
        #expect(try shown(export)["type"]?.string == "scheduled")
    }

    @Test(arguments: WebhookVersion.allCases)
    func `every topic has a name in its versions that is read back (webhooks 4_2)`(
        version: WebhookVersion
    ) {
        for topic in WebhookTopic.allCases {
            let read = WebhookTopicJSON.read(WebhookTopicJSON.text(topic, version), version)
            #expect(read == (topic.versions.contains(version) ? topic : nil))
        }
    }

    @Test func `versions do not accept each other's names (webhooks 4_2)`() {
        #expect(WebhookTopicJSON.read("Message.created", .v1_0) == nil)
        #expect(WebhookTopicJSON.read("message.sent", .v2_0) == nil)
        #expect(WebhookTopicJSON.read("Message.updated", .v3_0) == nil)
        #expect(WebhookTopicJSON.read("MessagePart.created", .v2_0) == nil)
    }

    @Test func `members that are array indices are written first (webhooks 3_2)`() {
        let names = ["b", "10", "2", "01", "4294967295", "4294967294", "-1", "+3", "0", "a"]
        #expect(
            names.inMemberOrder { $0 }
                == ["0", "2", "10", "4294967294", "b", "01", "4294967295", "-1", "+3", "a"])
    }

    private func shown(_ export: Export) throws -> JSONValue {
        var writer = JSONWriter()
        ExportJSON.write(
            export, links,
            sign: { _ in
                ContentJSON.SignedLink(
                    url: "https://chat.example.com/signed",
                    expiresAt: Timestamp(milliseconds: 5000))
            }, into: &writer)
        return try JSONDocument(writer.finish()).root
    }
}

extension Identifier {
    fileprivate static var sample: Identifier { .v7(at: Timestamp(milliseconds: 0), random: 7) }
}
