/// Who a client has proved to be by its certificate during the handshake (H167); never what a field
/// of its request says.
public final class ClientIdentity: Sendable {
    /// The subject as RFC 4514 writes it: `CN=billing,O=Example`.
    public let subject: String
    /// SHA-256 of the certificate, 32 octets.
    public let digest: [UInt8]

    /// Puts it together.
    public init(subject: String, digest: [UInt8]) {
        self.subject = subject
        self.digest = digest
    }
}
