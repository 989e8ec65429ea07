internal import HTTP

/// The key of an object without the store's prefix, such as `content/0190…`.
public struct ObjectKey: Sendable, Hashable, CustomStringConvertible {
    /// The key as text.
    public let text: String

    /// Accepts 1 to 512 bytes of text without control characters and without empty, `.` or `..`
    /// segments, which a proxy might normalize. `nil` for anything else.
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

    /// The key as text.
    public var description: String { text }

    /// Compares bytes: stores do not normalize keys.
    public static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// The properties of an object.
public struct ObjectSummary: Sendable, Equatable {
    /// In bytes.
    public let size: Int64
    /// The `ETag` with its quotes: it identifies a version of the object and is no digest.
    public let tag: String
    /// The media type.
    public let type: String?
    /// The metadata stored with the object; names are in lower case.
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

/// An object in a list.
public struct ListedObject: Sendable, Equatable {
    /// Without the store's prefix.
    public let key: ObjectKey
    /// When it was stored, in milliseconds since 1970 UTC by the store's clock.
    public let modified: Int64?
    /// In bytes.
    public let size: Int64
}

/// A condition for storing an object, so that concurrent writers detect each other.
public enum PutCondition: Sendable, Equatable {
    /// No condition.
    case none
    /// No object with that key exists.
    case absent
    /// The object still has this `ETag`.
    case matches(String)
}

/// Headers that a store sends with a pre-signed URL instead of those stored with the object.
public struct ResponseOverrides: Sendable, Equatable {
    /// `Content-Type`.
    public var type: String?
    /// `Content-Disposition`.
    public var disposition: String?
    /// `Cache-Control`.
    public var caching: String?

    /// Overrides the given headers.
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
