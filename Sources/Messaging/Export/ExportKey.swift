/// The public key that exports are sealed for.
public struct ExportKey: Equatable, Sendable {
    /// As it was given.
    public let pem: String
    /// The same key without armour.
    public let der: [UInt8]

    /// A key that somebody has checked.
    public init(pem: String, der: [UInt8]) {
        self.pem = pem
        self.der = der
    }
}
