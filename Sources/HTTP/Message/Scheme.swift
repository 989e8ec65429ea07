/// What a client speaks: HTTP in the clear or over TLS.
public enum Scheme: String, Sendable {
    /// In the clear.
    case http
    /// Over TLS.
    case https

    /// The port of URLs that name none.
    var port: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }

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
