internal import JSON
internal import Messaging
internal import MessagingWire

/// What a push notification of a message says.
public struct PushOptions: Hashable, Codable, Sendable {
    /// The title.
    public var title: String?
    /// The text.
    public var text: String?
    /// The name of a sound.
    public var sound: String?
    /// The category, which gives the notification its actions.
    public var category: String?
    /// The key of a localized title, and the values for its placeholders.
    public var titleLocKey: String?
    /// The values for the placeholders of the localized title.
    public var titleLocArguments: [String] = []
    /// The key of a localized text.
    public var locKey: String?
    /// The values for the placeholders of the localized text.
    public var locArguments: [String] = []
    /// The key of a localized button.
    public var actionLocKey: String?
    /// Further members for Apple's service, such as `launch-image`.
    public var apns: [String: String] = [:]
    /// Texts for the receiving application.
    public var data: [String: String] = [:]
    /// What differs for single recipients. Their own `recipients` must be empty.
    public var recipients: [UserID: PushOptions] = [:]

    /// Options; without a text, a title, a sound or a key the notification is silent.
    public init(title: String? = nil, text: String? = nil, sound: String? = nil) {
        self.title = title
        self.text = text
        self.sound = sound
    }

    /// The most bytes of the whole object as JSON.
    private static let sizeLimit = 64 << 10

    /// The member `notification` of a message.
    ///
    /// - Throws: `invalidMessage` for recipients of recipients, an invalid user id, or more than 64 KiB.
    func json() throws(ParleyError) -> [UInt8] {
        var entries: [(Messaging.UserID, PushOptions)] = []
        for user in recipients.keys.sorted() {
            guard let options = recipients[user], options.recipients.isEmpty else {
                throw ParleyError(
                    .invalidMessage, "The push options of a recipient have recipients themselves.")
            }
            entries.append((try user.validated(), options))
        }
        var writer = JSONWriter()
        writer.object { writer in
            writeTexts(into: &writer)
            guard !entries.isEmpty else { return }
            writer.key("recipients")
            writer.object { writer in
                for (user, options) in entries {
                    writer.key(UserIDJSON.text(user, .v3_0))
                    writer.object { writer in options.writeTexts(into: &writer) }
                }
            }
        }
        let bytes = writer.finish()
        guard bytes.count <= Self.sizeLimit else {
            throw ParleyError(
                .invalidMessage,
                "The push options have \(bytes.count) bytes; at most \(Self.sizeLimit) are allowed."
            )
        }
        return bytes
    }

    private func writeTexts(into writer: inout JSONWriter) {
        let texts: [(String, String?)] = [
            ("title", title), ("text", text), ("sound", sound), ("category", category),
            ("title-loc-key", titleLocKey), ("loc-key", locKey), ("action-loc-key", actionLocKey),
        ]
        for (name, text) in texts {
            guard let text else { continue }
            writer.key(name)
            writer.string(text)
        }
        for (name, list) in [("title-loc-args", titleLocArguments), ("loc-args", locArguments)]
        where !list.isEmpty {
            writer.key(name)
            writer.array { writer in for text in list { writer.string(text) } }
        }
        for (name, object) in [("apns", apns), ("data", data)] where !object.isEmpty {
            writer.key(name)
            writer.object { writer in
                for (key, text) in object.sorted(by: { $0.key < $1.key }) {
                    writer.key(key)
                    writer.string(text)
                }
            }
        }
    }
}
