import CCurl

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
