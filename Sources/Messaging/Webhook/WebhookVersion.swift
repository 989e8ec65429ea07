/// The shape of what a webhook is sent (webhooks §4.1).
///
/// Raw values stand in rows and are never changed.
public enum WebhookVersion: String, CaseIterable, Sendable {
    case v1_0 = "1.0"
    case v2_0 = "2.0"
    case v3_0 = "3.0"
}
