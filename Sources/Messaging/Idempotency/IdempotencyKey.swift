/// What a caller names a request by, so that its repeat does nothing again (X2).
///
/// Equal only as octets; for ever bound to its application, whichever token sent it.
public struct IdempotencyKey: Hashable, Sendable {
    /// 1 to 255 octets of visible ASCII.
    public let text: String

    /// Most characters of a key.
    public static let limit = 255

    /// Takes 1 to 255 characters of visible ASCII; `nil` for everything else.
    public init?(_ text: String) {
        let octets = text.utf8
        guard (1...Self.limit).contains(octets.count),
            octets.allSatisfy({ octet in (0x21...0x7E).contains(octet) })
        else { return nil }
        self.text = text
    }
}
