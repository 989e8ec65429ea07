import CCurl

/// The reason why a request has no response.
public struct HTTPClientError: Error, Equatable, CustomStringConvertible {
    /// The kinds of errors that callers distinguish.
    public enum Kind: Sendable, Equatable {
        /// libcurl is not installed, or too old.
        case unavailable
        /// The URL is invalid or is neither `http` nor `https`, or a header contains a control character.
        case invalidRequest
        /// The host name of the server or of the proxy could not be resolved.
        case unresolved
        /// The addresses of the server are not allowed, see ``HTTPClientSettings/allowsAddress``.
        case refusedAddress
        /// The server refused the connection, or the network failed.
        case unreachable
        /// The TLS handshake failed, usually because the certificate is for another host or its authority is
        /// not trusted.
        case insecure
        /// A time limit of the request was exceeded.
        case timedOut
        /// The connection was closed early, or the response is not valid HTTP.
        case broken
        /// The response is larger than its reader allows.
        case tooLarge
        /// The body of the request could not be read.
        case unreadableBody
        /// The request was cancelled by the caller.
        case cancelled
    }

    /// The kind of the error.
    public let kind: Kind
    /// The details, for the log; they may contain host names and addresses.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

extension HTTPClientError.Kind {
    /// Converts a result code of libcurl.
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
    /// The duration in whole milliseconds, at least 1, because 0 means no limit to libcurl.
    var milliseconds: Int {
        max(1, Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
    }
}
