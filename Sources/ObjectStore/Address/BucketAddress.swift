/// Where a bucket and what lies in it are found (§10.4).
struct BucketAddress: Sendable {
    /// `https://`.
    let scheme: String
    /// As the field `Host` has it.
    let host: String
    /// Encoded; what stands before a key.
    private let root: String
    /// Encoded; where the bucket itself is.
    private let own: String
    /// As `x-amz-copy-source` begins.
    let bucket: String

    /// `nil` when the settings name no place.
    init?(_ settings: ObjectStoreSettings) {
        guard let place = Endpoint(settings.endpoint) else { return nil }
        scheme = place.isSecure ? "https://" : "http://"
        bucket = settings.bucket
        switch settings.style {
        case .path:
            host = place.host
            own = "\(place.path)/\(URIEncoding.component(settings.bucket))"
            root = own + "/"
        case .virtualHost:
            host = "\(settings.bucket).\(place.host)"
            own = "\(place.path)/"
            root = own
        }
    }

    /// The encoded path of a whole key, and of the bucket for none.
    func path(of key: String?) -> String { key.map { root + URIEncoding.path($0) } ?? own }

    /// The whole URL; path and query are encoded.
    func url(path: String, query: String) -> String {
        scheme + host + path + (query.isEmpty ? "" : "?" + query)
    }
}
