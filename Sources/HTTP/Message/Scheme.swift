/// What a client speaks: HTTP in the clear or over TLS.
public enum Scheme: String, Sendable {
    /// In the clear.
    case http
    /// Over TLS.
    case https

    /// Reads a proxy's word for it, in any case; `nil` for other schemes (H201).
    init?(_ text: some Collection<UInt8>) {
        if text.isEqualIgnoringCase("https".utf8) {
            self = .https
        } else if text.isEqualIgnoringCase("http".utf8) {
            self = .http
        } else {
            return nil
        }
    }
}
