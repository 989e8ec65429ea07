import Messaging
import SQL

extension Webhook {
    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, payload_version, target, topics, secret, config, status, since, reason, created_at,
        version
        """

    init(_ row: borrowing Row) throws {
        guard let payloadVersion = WebhookVersion(rawValue: try row.text(1)),
            let topics = [Topic](text: try row.text(3))
        else { throw StoreFault.unreadable("webhooks") }
        self.init(
            id: try row.id(0), payloadVersion: payloadVersion, target: try row.text(2),
            topics: topics, secret: try row.text(4),
            config: try row.optionalBlob(5).map([Setting].init(columnBytes:)),
            status: try Status(row), createdAt: try row.timestamp(9), version: try row.int64(10))
    }
}

extension Webhook.Status {
    /// What a row holds of it.
    var columns: (name: String, since: Int64?, reason: String?) {
        switch self {
        case .unverified: ("unverified", nil, nil)
        case .active(let place): ("active", place.number, nil)
        case .inactive(let reason): ("inactive", nil, reason)
        }
    }

    fileprivate init(_ row: borrowing Row) throws {
        switch (try row.text(6), try row.optionalInt64(7), try row.optionalText(8)) {
        case ("unverified", nil, nil): self = .unverified
        case ("active", let place?, nil): self = .active(since: LogPosition(place))
        case ("inactive", nil, let reason?): self = .inactive(reason: reason)
        default: throw StoreFault.unreadable("webhooks.status")
        }
    }
}

// Settings in one column: nobody looks for one of them.
extension [Webhook.Setting] {
    var columnBytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(each: self) { writer, setting in
            writer.write(setting.name)
            writer.write(setting.value)
        }
        return writer.bytes
    }

    init(columnBytes: [UInt8]) throws {
        var reader = ByteReader(columnBytes)
        self = try reader.each { reader in
            Webhook.Setting(name: try reader.text(), value: try reader.text())
        }
        try reader.finish()
    }
}
