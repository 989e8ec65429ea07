import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Events in the log` {
    @Test(arguments: Event.samples) func `an event is decoded as it was encoded`(event: Event)
        throws
    {
        #expect(try Event(type: event.type.rawValue, encoded: event.stored.encoded) == event)
    }

    @Test func `every type has a sample`() {
        #expect(Set(Event.samples.map(\.type)) == Set(EventType.allCases))
    }

    @Test(arguments: Event.samples) func `a truncated event is a fault`(
        event: Event
    ) {
        let payload = event.stored.encoded
        for length in payload.indices {
            #expect(throws: StoreFault.self) {
                try Event(type: event.type.rawValue, encoded: Array(payload.prefix(length)))
            }
        }
    }

    @Test(arguments: Event.samples) func `an event with trailing bytes is a fault`(event: Event) {
        #expect(throws: StoreFault.self) {
            try Event(type: event.type.rawValue, encoded: event.stored.encoded + [0])
        }
    }

    @Test func `an unknown type or version is a fault`() {
        #expect(throws: StoreFault.unreadable("event message.sung")) {
            try Event(type: "message.sung", encoded: [1])
        }
        #expect(throws: StoreFault.unreadable("encoding version 2 of an event")) {
            try Event(type: "message.sent", encoded: [2])
        }
    }

    @Test(
        arguments: [
            (nil, nil, [0]), ([8], nil, [1, 2, 8]), (nil, [7], [2, 2, 7]),
            ([8], [7], [3, 2, 8, 2, 7]),
        ] as [([UInt8]?, [UInt8]?, [UInt8])])
    func `a content without SHA-512 is encoded in the earlier form`(
        md5: [UInt8]?, sha512: [UInt8]?, digests: [UInt8]
    ) throws {
        let content = Content(
            id: .sample(8), conversation: nil, mimeType: "a/b", size: 0, fileName: nil, sha256: [9],
            crc32c: 0, md5: md5, sha512: sha512, completedAt: .sample, origin: nil)
        // After the version, an id, no conversation, a type, a size, no name, a SHA-256 and a CRC-32C.
        let front = 1 + 17 + 1 + 4 + 1 + 1 + 2 + 1
        let payload = Event.contentUploaded(ContentUploaded(content: content)).stored.encoded
        #expect(payload.dropFirst(front).prefix(digests.count).elementsEqual(digests))
        var other = payload
        other[front] = 4
        #expect(throws: StoreFault.self) {
            try Event(type: "content.uploaded", encoded: other)
        }
    }

    @Test func `the encoding of a webhook is unchanged`() {
        let webhook = WebhookSummary(
            id: .sample(20), payloadVersion: .v2_0, target: "https://a/", topics: [.messageSent],
            config: [Webhook.Setting(name: "b", value: "c")], status: .inactive(reason: "no"),
            createdAt: Timestamp(milliseconds: 1))
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count * 2)] + text.utf8 }
        let bytes =
            [1, 32] + webhook.id.bytes + text("2.0") + text("https://a/") + [2]
            + text("message.sent") + [1, 2] + text("b") + text("c") + text("inactive") + text("no")
            + [2]
        #expect(Event.webhookCreated(WebhookCreated(webhook: webhook)).stored.encoded == bytes)
        #expect(
            Event.webhookSecretRotated(
                WebhookSecretRotated(webhook: webhook, formerUntil: Timestamp(milliseconds: 2))
            ).stored.encoded
                == bytes + [4])
    }

    @Test(arguments: [0, 1, -1, 63, 64, -64, -65, 127, 128, .max, .min] as [Int64])
    func `numbers are encoded in as few bytes as possible`(number: Int64) throws {
        var writer = ByteWriter()
        writer.write(number)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.number() == number)
        try reader.finish()
        #expect((-64..<64).contains(number) == (writer.bytes.count == 1))
    }
}
