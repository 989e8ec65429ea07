public import HTTP
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
    ///   - onBytesSent: Told how many bytes of the body went out; starts over with each attempt.
    /// - Returns: The object's `ETag`, with its quotes: a name of this state of it, never a digest.
    /// - Throws: `preconditionFailed` when the condition does not hold. After an attempt whose answer was lost
    ///   the object may be there all the same, also then.
    public func put(
        _ key: ObjectKey, _ body: ClientBody, type: String, sha256: [UInt8]? = nil,
        metadata: [String: String] = [:], condition: PutCondition = .none,
        onBytesSent: (@Sendable (Int64) -> Void)? = nil
    ) async throws(ObjectStoreError) -> String {
        var request = StoreRequest("put object", .put, fullKey(key))
        request.fields = try description(type: type, metadata, in: request.operation)
        switch condition {
        case .none: break
        case .absent: request.fields.append(("If-None-Match", "*"))
        case .matches(let tag): request.fields.append(("If-Match", tag))
        }
        // Without a body a length would be missing, which stores insist on.
        request.body = if case .none = body { .bytes([]) } else { body }
        request.payload = try await sums(of: body, sha256: sha256, in: request.operation).payload
        request.onBytesSent = onBytesSent
        return try await tag(request)
    }

    /// Sends a request that is answered with an `ETag`.
    func tag(_ request: StoreRequest) async throws(ObjectStoreError) -> String {
        guard let tag = try await fields(request)["ETag"], !tag.isEmpty else {
            throw AttemptFailure(lacking: "ETag", status: 200, in: request.operation).error
        }
        return tag
    }

    /// The fields that say what an object is.
    func description(
        type: String, _ metadata: [String: String], in operation: String
    ) throws(ObjectStoreError) -> [(name: String, value: String)] {
        guard Self.isPrintable(type) else {
            throw ObjectStoreError(
                .invalid, operation, words: "the media type is not 1 to 255 printable bytes")
        }
        var fields = [(name: "Content-Type", value: type)]
        for (name, value) in metadata {
            let isName = name.utf8.allSatisfy { byte in
                switch byte {
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

extension ObjectStore {
    /// What is known of an object; `nil` when the store itself says that there is none (`NoSuchKey`).
    ///
    /// An answer to HEAD has no document that would tell a missing object from a missing bucket, a
    /// proxy's 404 or a clock that is off: after any refusal the object's first byte is asked for, and
    /// what is said to that counts.
    public func head(_ key: ObjectKey) async throws(ObjectStoreError) -> ObjectSummary? {
        let request = StoreRequest("head object", .head, fullKey(key))
        do throws(ObjectStoreError) {
            return try await summary(request)
        } catch {
            guard !error.isTransient, error.status != nil else { throw error }
        }
        var question = StoreRequest("head object", .get, fullKey(key))
        question.fields = [("Range", "bytes=0-0")]
        do throws(ObjectStoreError) {
            try await perform(question) { stream throws(AttemptFailure) in stream.cancel() }
        } catch {
            switch error.kind {
            case .missingObject: return nil
            // It is there and empty.
            case .unsatisfiableRange: break
            default: throw error
            }
        }
        // It came meanwhile, or the clock was put right.
        return try await summary(request)
    }

    private func summary(_ request: StoreRequest) async throws(ObjectStoreError) -> ObjectSummary {
        guard let summary = ObjectSummary(try await fields(request)) else {
            throw AttemptFailure(
                lacking: "Content-Length or ETag", status: 200, in: request.operation
            ).error
        }
        return summary
    }
}

extension ObjectStore {
    /// Begins to read an object, or a range of it.
    ///
    /// - Parameter range: Bytes from 0 on, not empty; its end may lie beyond the object's. `nil` for all.
    /// - Throws: `missingObject`; `unsatisfiableRange` when the range begins behind the end.
    public func get(
        _ key: ObjectKey, range: Range<Int64>? = nil
    ) async throws(ObjectStoreError) -> ObjectStream {
        guard range.map({ !$0.isEmpty && $0.lowerBound >= 0 }) ?? true else {
            throw ObjectStoreError(.invalid, "get object", words: "the range is empty")
        }
        let (source, stretch) = try await open(key, range: range, tag: nil)
        return ObjectStream(self, key, source, stretch)
    }

    /// Opens a range of one state of an object.
    ///
    /// - Parameter tag: That state's `ETag`; `preconditionFailed` when the object is another meanwhile.
    func open(
        _ key: ObjectKey, range: Range<Int64>?, tag: String?
    ) async throws(ObjectStoreError) -> (source: ClientResponseStream, stretch: RangeResponse) {
        var request = StoreRequest("get object", .get, fullKey(key))
        request.isDownload = true
        if let range {
            request.fields.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
        }
        if let tag { request.fields.append(("If-Match", tag)) }
        return try await perform(request) { stream throws(AttemptFailure) in
            guard
                let stretch = RangeResponse(status: stream.status, stream.fields, asked: range)
            else {
                stream.cancel()
                throw AttemptFailure(
                    lacking: "Content-Range, Content-Length and ETag", status: stream.status,
                    in: request.operation)
            }
            return (stream, stretch)
        }
    }
}

extension ObjectStore {
    /// Takes an object away; that there is none is success.
    public func delete(_ key: ObjectKey) async throws(ObjectStoreError) {
        do throws(ObjectStoreError) {
            _ = try await fields(StoreRequest("delete object", .delete, fullKey(key)))
        } catch {
            // Some stores say so, S3 does not.
            guard error.kind == .missingObject else { throw error }
        }
    }
}

extension ObjectStore {
    /// The objects below a folder of the store's prefix, asked for a thousand at a time. Others' keys that
    /// no ``ObjectKey`` can name are left out.
    ///
    /// - Parameter folder: Ends with `/`.
    public func objects(below folder: String) -> some AsyncSequence<ListedObject, ObjectStoreError>
        & Sendable
    {
        PagedList { (token: String?) async throws(ObjectStoreError) in
            let page = try await page(below: folder, after: token)
            let objects = page.objects.compactMap { object in
                key(object.key, below: folder).map { key in
                    ListedObject(key: key, modified: object.modified, size: object.size)
                }
            }
            return (objects, page.next)
        }
    }

    private func page(
        below folder: String, after token: String?
    ) async throws(ObjectStoreError) -> ObjectPage {
        var request = StoreRequest("list objects", .get, nil)
        request.query = [
            // Keys hold what XML cannot.
            ("list-type", "2"), ("encoding-type", "url"), ("prefix", settings.prefix + folder),
            ("max-keys", "1000"),
        ]
        if let token { request.query.append(("continuation-token", token)) }
        return try await document(request) { body throws(XMLError) in
            try ObjectPage(body, after: token)
        }
    }
}

extension ObjectStore {
    /// A URL with which anybody may read an object for a while, straight from the store.
    ///
    /// Range and conditional fields may go with it.
    ///
    /// - Parameters:
    ///   - method: `GET` or `HEAD`: the store takes the URL with that one only.
    ///   - seconds: Brought into 1…604,800, which is what stores take (§10.2).
    ///   - overrides: What the store is to say of the object.
    public func presignedURL(
        _ key: ObjectKey, method: Method = .get, seconds: Int,
        overrides: ResponseOverrides = ResponseOverrides()
    ) -> String {
        let path = address.path(of: fullKey(key))
        let query = signer.query(
            signing: method, host: address.host, path: path, query: overrides.parameters,
            seconds: min(max(seconds, 1), 604_800), at: SigningTime(now()))
        return address.url(path: path, query: query)
    }
}
