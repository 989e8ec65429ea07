import Delivery
import HTTP
import Messaging
import PlatformAPI

extension Settings {
    /// The settings of webhooks, a part of the table.
    static let webhooks: [Setting] = [
        .blocks(
            "webhooks.allowed_networks", \.api.outbound.allowedNetworks,
            "Targets that may be called although they are not public, such as `10.1.2.0/24`."),
        .truth(
            "webhooks.allow_http", \.api.outbound.allowsHTTP,
            "Whether targets may be `http`, over which everybody on the way reads along."),
        .file(
            "webhooks.authorities", \.webhooks.authorities,
            "PEM file of the authorities that vouch for webhooks; none: the system's."),
        .number(
            "webhooks.connect_timeout", \.webhooks.connectsWithin, .time(1...60_000),
            "How long reaching a webhook may take, TLS included."),
        .number(
            "webhooks.answer_timeout", \.webhooks.answersWithin, .time(1...60_000),
            "How long its answer may take once it has the request."),
        .number(
            "webhooks.verify_timeout", \.webhooks.verifiesWithin, .time(1...60_000),
            "How long asking whether it wants anything may take."),
        .times(
            "webhooks.retry_schedule", \.webhooks.schedule.waits, 1...30 * 86_400_000,
            "Times between the tries of a delivery; after the last it is given up."),
        .number(
            "webhooks.concurrency", \.webhooks.concurrency, .count(1...256),
            "Deliveries of one webhook on their way at a time, each of another conversation."),
        .number(
            "webhooks.dead_share", \.webhooks.deadShare, .count(0...100),
            "How many of a hundred deliveries may be given up before the webhook is deactivated."),
        .number(
            "webhooks.retention", \.webhooks.retention, .time(0...3650 * 86_400_000),
            "How long deliveries are kept that are over; 0 for ever."),
    ]
}
