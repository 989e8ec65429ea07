/// What a pre-signed URL has the store say, instead of what was stored with the object.
public struct ResponseOverrides: Sendable, Equatable {
    /// `Content-Type`.
    public var type: String?
    /// `Content-Disposition`.
    public var disposition: String?
    /// `Cache-Control`.
    public var caching: String?

    /// Overrides what is given.
    public init(type: String? = nil, disposition: String? = nil, caching: String? = nil) {
        self.type = type
        self.disposition = disposition
        self.caching = caching
    }

    var parameters: [(name: String, value: String)] {
        [
            ("response-content-type", type), ("response-content-disposition", disposition),
            ("response-cache-control", caching),
        ].compactMap { name, value in value.map { (name, $0) } }
    }
}
