internal import HTTP

/// What a store says of an object without sending it.
public struct ObjectSummary: Sendable, Equatable {
    /// In bytes.
    public let size: Int64
    /// Its `ETag`, with its quotes: a name of this state of it, never a digest.
    public let tag: String
    /// Its media type.
    public let type: String?
    /// What was kept with it, by names in small letters.
    public let metadata: [String: String]

    init?(_ fields: Fields) {
        guard let size = fields["Content-Length"].flatMap({ Int64(decimal: $0.utf8) }),
            let tag = fields["ETag"]
        else { return nil }
        self.size = size
        self.tag = tag
        type = fields["Content-Type"]
        var metadata: [String: String] = [:]
        for (name, value) in fields.all {
            let name = name.lowercased()
            guard name.hasPrefix("x-amz-meta-") else { continue }
            metadata[String(name.dropFirst("x-amz-meta-".count))] = value
        }
        self.metadata = metadata
    }
}
