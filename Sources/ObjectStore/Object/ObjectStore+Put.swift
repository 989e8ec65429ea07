internal import HTTP
public import HTTPClient

extension ObjectStore {
    /// Stores an object as a whole; one of the same key is replaced.
    ///
    /// - Parameters:
    ///   - body: Up to 5 GiB; read again for each attempt.
    ///   - type: Its media type.
    ///   - sha256: The 32 bytes of the body's SHA-256, where the caller has them; the body is read for
    ///     them otherwise.
    ///   - metadata: Kept with the object; names of small letters, digits and hyphens, values of
    ///     printable ASCII.
    ///   - condition: What must hold for the object to be stored.
    ///   - onSent: Told how many octets of the body went out; starts over with each attempt.
    /// - Returns: The object's `ETag`, with its quotes: a name of this state of it, never a digest.
    /// - Throws: `lostRace` when the condition does not hold. After an attempt whose answer was lost
    ///   the object may be there all the same, also then.
    public func put(
        _ key: ObjectKey, _ body: ClientBody, type: String, sha256: [UInt8]? = nil,
        metadata: [String: String] = [:], condition: PutCondition = .none,
        onSent: (@Sendable (Int64) -> Void)? = nil
    ) async throws(ObjectStoreError) -> String {
        var request = StoreRequest("put object", .put, fullKey(key))
        request.fields = try description(type: type, metadata, in: request.operation)
        switch condition {
        case .none: break
        case .absent: request.fields.append(("If-None-Match", "*"))
        case .matches(let tag): request.fields.append(("If-Match", tag))
        }
        // Without a body a length would be missing, which stores insist on.
        request.body = if case .none = body { .octets([]) } else { body }
        request.payload = try await sums(of: body, sha256: sha256, in: request.operation).payload
        request.onSent = onSent
        return try await tag(request)
    }

    /// Sends a request that is answered with an `ETag`.
    func tag(_ request: StoreRequest) async throws(ObjectStoreError) -> String {
        guard let tag = try await fields(request)["ETag"], !tag.isEmpty else {
            throw Fault(lacking: "ETag", status: 200, in: request.operation).error
        }
        return tag
    }

    /// The fields that say what an object is.
    func description(
        type: String, _ metadata: [String: String], in operation: String
    ) throws(ObjectStoreError) -> [(name: String, value: String)] {
        guard Self.isPrintable(type) else {
            throw ObjectStoreError(
                .invalid, operation, words: "the media type is not 1 to 255 printable octets")
        }
        var fields = [(name: "Content-Type", value: type)]
        for (name, value) in metadata {
            let isName = name.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            guard isName, !name.isEmpty, Self.isPrintable(value) else {
                throw ObjectStoreError(
                    .invalid, operation, words: "the metadata \(name) cannot stand in a field")
            }
            fields.append(("x-amz-meta-\(name)", value))
        }
        return fields
    }

    private static func isPrintable(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
