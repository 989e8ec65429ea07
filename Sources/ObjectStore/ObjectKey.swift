internal import HTTP

/// The name of an object below the prefix of its store, such as `content/0190…`.
public struct ObjectKey: Sendable, Hashable, CustomStringConvertible {
    /// The name as it is.
    public let text: String

    /// Takes 1 to 512 bytes of text without control characters; segments between slashes are neither
    /// empty nor `.` nor `..`, which somebody on the way might fold. `nil` for anything else.
    public init?(_ text: String) {
        guard (1...512).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }),
            text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .allSatisfy({ segment in
                    !segment.isEmpty && !segment.elementsEqual(".".utf8)
                        && !segment.elementsEqual("..".utf8)
                })
        else { return nil }
        self.text = text
    }

    /// The name as it is.
    public var description: String { text }

    /// Equal as bytes: stores fold nothing.
    public static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// By bytes, as equality.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

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

/// An object that the store lists.
public struct ListedObject: Sendable, Equatable {
    /// Without the store's prefix.
    public let key: ObjectKey
    /// When it was stored, in milliseconds since 1970 UTC by the store's clock.
    public let modified: Int64?
    /// In bytes.
    public let size: Int64
}

/// What must hold for an object to be stored, so that of two writers one notices the other.
public enum PutCondition: Sendable, Equatable {
    /// Nothing.
    case none
    /// There is none of that key.
    case absent
    /// The object is still the one with this `ETag`.
    case matches(String)
}

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
