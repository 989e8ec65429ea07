import CCurl

/// Why there is no answer of another server.
public struct HTTPClientError: Error, Equatable, CustomStringConvertible {
    /// What a caller may want to tell apart.
    public enum Kind: Sendable, Equatable {
        /// libcurl is not there, or too old.
        case unavailable
        /// The URL is none, or is neither `http` nor `https`, or a field has a control character.
        case invalidRequest
        /// The name of the server, or of the proxy, is not known.
        case unresolved
        /// The addresses of the server are not to be called, see ``HTTPClientSettings/allowsAddress``.
        case refusedAddress
        /// Nobody listens there, or the way there is broken.
        case unreachable
        /// TLS did not come about; above all the certificate is not the server's, or nobody vouches for it.
        case insecure
        /// It took longer than the request allows.
        case timedOut
        /// The connection ended early, or what came is no HTTP.
        case broken
        /// The answer is longer than its reader takes.
        case tooLarge
        /// What was to be sent could not be read.
        case unreadableBody
        /// The request was given up on this side.
        case cancelled
    }

    /// What happened.
    public let kind: Kind
    /// The same with what is particular, for the log; it may name hosts and addresses.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

extension HTTPClientError.Kind {
    /// What a result of libcurl means to a caller.
    init(result: Int32) {
        self =
            switch Int(result) {
            case CURL_URL_MALFORMED: .invalidRequest
            case CURL_COULD_NOT_RESOLVE_HOST, CURL_COULD_NOT_RESOLVE_PROXY: .unresolved
            case CURL_COULD_NOT_CONNECT: .unreachable
            case CURL_TIMED_OUT: .timedOut
            case CURL_SSL_CONNECT_ERROR, CURL_SSL_CERTIFICATE_PROBLEM, CURL_SSL_CIPHER,
                CURL_PEER_FAILED_VERIFICATION, CURL_SSL_BAD_AUTHORITIES:
                .insecure
            default: .broken
            }
    }
}

extension Duration {
    /// In whole milliseconds, at least one: 0 means no bound to libcurl.
    var milliseconds: Int {
        max(1, Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
    }
}
