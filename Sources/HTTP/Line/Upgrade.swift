/// The change to another protocol on the same connection: `101`, then raw octets both ways.
///
/// A service answers with it only when the request asks for it, in HTTP/1.1 and without a body
/// (H86, H131); otherwise the transport refuses with 400.
public struct Upgrade: Sendable {
    /// The protocol's name in `Upgrade`, such as `websocket`.
    public let token: String
    /// Fields beside `Upgrade` and `Connection`.
    public let fields: ResponseFields
    /// Who speaks the new protocol.
    public let handler: any LineHandler

    /// Makes one.
    public init(
        to token: String, fields: ResponseFields = ResponseFields(), handler: any LineHandler
    ) {
        self.token = token
        self.fields = fields
        self.handler = handler
    }
}

extension Response {
    /// The `101` of an upgrade, for services that must wait before they can decide.
    public init(_ upgrade: Upgrade) {
        self.init(.switchingProtocols, fields: upgrade.fields, content: .stream(upgrade.handler))
        fields.add("Upgrade", upgrade.token)
    }
}
