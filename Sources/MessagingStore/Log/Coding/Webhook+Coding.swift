import Messaging

extension ShownWebhook {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(payloadVersion.rawValue)
        writer.write(target)
        writer.write(topics)
        writer.write(optional: config) { writer, config in
            writer.write(each: config) { writer, setting in
                writer.write(setting.name)
                writer.write(setting.value)
            }
        }
        status.write(to: &writer)
        writer.write(createdAt)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(),
            payloadVersion: try reader.legal(
                WebhookVersion(rawValue: try reader.text()), "version of a webhook"),
            target: try reader.text(), topics: try reader.topics(),
            config: try reader.optional { reader in
                try reader.each { reader in
                    Webhook.Setting(name: try reader.text(), value: try reader.text())
                }
            },
            status: try Webhook.Status(from: &reader), createdAt: try reader.timestamp())
    }
}

extension Webhook.Status {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .unverified:
            writer.write("unverified")
        case .active(let place):
            writer.write("active")
            writer.write(place.number)
        case .inactive(let reason):
            writer.write("inactive")
            writer.write(reason)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        switch try reader.text() {
        case "unverified": self = .unverified
        case "active": self = .active(since: LogPosition(try reader.number()))
        case "inactive": self = .inactive(reason: try reader.text())
        default: throw StoreFault.unreadable("status of a webhook")
        }
    }
}
