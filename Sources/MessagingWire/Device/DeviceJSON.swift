public import JSON
public import Messaging

/// The body of `POST /push_tokens` (client-api §4.7).
public enum DeviceJSON {
    /// Reads a device: first its type, token and id, then the optional members.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> Device {
        guard let type = body.present("type") else { throw .missing("type") }
        guard let kind = type.string.flatMap(Device.Kind.init(rawValue:)) else {
            throw .invalid("type", .deviceType)
        }
        guard let value = body.present("token") else { throw .missing("token") }
        guard let token = value.string, (1...Device.tokenLimit).contains(token.utf8.count),
            token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .invalid("token", .deviceToken) }
        guard let id = try text("device_id", in: body) else { throw .missing("device_id") }
        return Device(
            id: id, kind: kind, token: token, bundleID: try text("apns_bundle_id", in: body),
            senderID: try text("gcm_sender_id", in: body),
            systemVersion: try text("ios_version", in: body))
    }

    private static func text(
        _ name: String, in body: JSONValue
    ) throws(Rejection) -> String? {
        guard let value = body.present(name) else { return nil }
        guard let text = value.string, !text.isEmpty, text.isStorable,
            text.unicodeScalars.prefix(Device.textLimit + 1).count <= Device.textLimit
        else { throw .invalid(name, .deviceText) }
        return text
    }

    /// The schema of what ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "PushToken",
        .object([
            .required("type", .choice(Device.Kind.allCases.map(\.rawValue))),
            .required("token", .pattern("[!-~]{1,4096}")),
            .required("device_id", .storable(length: 1...Device.textLimit)),
            .optional("apns_bundle_id", .storable(length: 1...Device.textLimit)),
            .optional("gcm_sender_id", .storable(length: 1...Device.textLimit)),
            .optional("ios_version", .storable(length: 1...Device.textLimit)),
        ]))
}
