import Messaging

extension Application {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(name)
        writer.write(createdAt)
        writer.write(isSuspended)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), name: try reader.text(), createdAt: try reader.timestamp(),
            isSuspended: try reader.flag())
    }
}

extension Token {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(optional: name) { writer, name in writer.write(name) }
        writer.write(application)
        writer.write(scope.rawValue)
        writer.write(createdAt)
        writer.write(optional: expiresAt) { writer, moment in writer.write(moment) }
        writer.write(optional: revokedAt) { writer, moment in writer.write(moment) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), name: try reader.optional { reader in try reader.text() },
            application: try reader.id(),
            scope: try reader.valid(Scope(rawValue: try reader.text()), "scope of a token"),
            createdAt: try reader.timestamp(),
            expiresAt: try reader.optional { reader in try reader.timestamp() },
            revokedAt: try reader.optional { reader in try reader.timestamp() })
    }
}

extension WebhookSummary {
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
            payloadVersion: try reader.valid(
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
        case .active(let since):
            writer.write("active")
            writer.write(since.number)
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

extension Export {
    /// Writes an export as requested; what happens to it later is in later events.
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(optional: period) { writer, period in
            writer.write(period.after.number)
            writer.write(period.through.number)
            writer.write(period.topics)
        }
        writer.write(publicKey)
        writer.write(createdAt)
    }

    init(from reader: inout ByteReader) throws {
        let id: ID = try reader.id()
        let period = try reader.optional { reader in
            Period(
                after: LogPosition(try reader.number()),
                through: LogPosition(try reader.number()), topics: try reader.topics())
        }
        self.init(
            id: id, scope: period.map(Scope.scheduled) ?? .historical,
            publicKey: try reader.bytes(), createdAt: try reader.timestamp())
    }

    /// The range of the log that it contains; `nil` for a historical one.
    var period: Period? {
        switch scope {
        case .historical: nil
        case .scheduled(let period): period
        }
    }
}

extension Export.Archive {
    func write(to writer: inout ByteWriter) {
        writer.write(size)
        writer.write(sha256)
        writer.write(Int64(crc32c))
        writer.write(encryptedKey)
        writer.write(initialVector)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            size: try reader.number(), sha256: try reader.bytes(),
            crc32c: try reader.valid(UInt32(exactly: try reader.number()), "CRC-32C"),
            encryptedKey: try reader.bytes(), initialVector: try reader.bytes())
    }
}

extension ExportSchedule {
    func write(to writer: inout ByteWriter) {
        writer.write(interval.rawValue)
        writer.write(topics)
        writer.write(position.number)
        writer.write(optional: nextAt) { writer, moment in writer.write(moment) }
        writer.write(optional: lastAt) { writer, moment in writer.write(moment) }
        writer.write(optional: last) { writer, id in writer.write(id) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            interval: try reader.valid(
                Interval(rawValue: try reader.text()), "interval of a schedule"),
            topics: try reader.topics(), position: LogPosition(try reader.number()),
            nextAt: try reader.optional { reader in try reader.timestamp() },
            lastAt: try reader.optional { reader in try reader.timestamp() },
            last: try reader.optional { reader in try reader.id() })
    }
}

extension ByteWriter {
    mutating func write(_ topics: [WebhookTopic]) {
        write(each: topics) { writer, topic in writer.write(topic.rawValue) }
    }
}

extension ByteReader {
    mutating func topics() throws -> [WebhookTopic] {
        try each { reader in
            try reader.valid(WebhookTopic(rawValue: try reader.text()), "topic of an event")
        }
    }
}
