/// A certificate that is being served, for metrics (H166).
public struct ServedCertificate: Sendable, Equatable {
    /// Its file.
    public let file: String
    /// Host names and addresses, as they stand in it.
    public let names: [String]
    /// When it expires, in seconds since 1970.
    public let expiry: Int64
}
