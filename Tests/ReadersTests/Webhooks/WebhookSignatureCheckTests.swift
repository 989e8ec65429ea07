import Messaging
import Testing

@testable import Readers

@Suite struct `A check of signatures` {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let body = Array(#"{"event":{}}"#.utf8)
    private static let secret = "a secret of a webhook"

    private static func headers(
        _ secret: String = secret, at moment: Timestamp = now
    ) -> [(name: String, value: String)] {
        [("Layer-Webhook-Signature", LayerWebhookSignature.of(body, secret: secret))]
            + StandardWebhookHeaders.of(
                EventID.v7(at: moment, random: 7), body, at: moment, secrets: ["older", secret])
    }

    private static func check(
        _ headers: [(name: String, value: String)], body: [UInt8] = body
    ) -> WebhookSignatureCheck {
        WebhookSignatureCheck(headers: headers, body: body, secret: secret, at: now)
    }

    @Test func `accepts both signatures, with two secrets`() {
        let check = Self.check(Self.headers())
        #expect(check.layer == .match)
        #expect(check.standard == .match)
        #expect(check.reason == nil)
    }

    @Test func `says that body or secret differ`() {
        for check in [
            Self.check(Self.headers(), body: Self.body + [0x20]),
            Self.check(Self.headers("another secret")),
        ] {
            #expect(check.layer == .mismatch)
            #expect(check.standard == .mismatch)
            #expect(check.reason?.contains("another secret") == true)
        }
    }

    @Test func `names missing headers and an old time`() {
        let none = Self.check([])
        #expect(none.layer == .missing)
        #expect(none.standard == .missing)
        #expect(none.reason?.contains("`webhook-id`, `webhook-timestamp`") == true)
        let old = Self.check(
            Self.headers(at: Timestamp(milliseconds: Self.now.milliseconds - 400_000)))
        #expect(old.standard == .match)
        #expect(old.reason?.contains("five minutes") == true)
        var invalid = Self.headers()
        invalid[2].value = "soon"
        #expect(Self.check(invalid).standard == .mismatch)
        invalid[2].value = "9223372036854775807"
        #expect(Self.check(invalid).standard == .mismatch)
    }
}
