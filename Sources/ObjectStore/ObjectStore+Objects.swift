public import HTTP
public import HTTPClient

extension ObjectStore {
    /// Stores an object, replacing one with the same key.
    ///
    /// - Parameters:
    ///   - body: Up to 5 GiB; read again for each attempt.
    ///   - type: The media type.
    ///   - sha256: The body's SHA-256, if the caller has it; otherwise the body is read to compute
    ///     it.
    ///   - metadata: Stored with the object; names of lower-case letters, digits and hyphens,
    ///     values of printable ASCII.
    ///   - condition: A condition that must hold.
    ///   - onBytesSent: Called with the bytes of the body sent so far; starts over with each
    ///     attempt.
    /// - Returns: The object's `ETag` with its quotes: it identifies this version and is no digest.
    /// - Throws: `preconditionFailed` if the condition does not hold; the object may exist all the
    ///   same if the response of an earlier attempt was lost.
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
        // Stores require a Content-Length, which a missing body would not have.
        request.body = if case .none = body { .bytes([]) } else { body }
        request.payload = try await sums(of: body, sha256: sha256, in: request.operation).payload
        request.onBytesSent = onBytesSent
        return try await tag(request)
    }

    /// Sends a request whose response has an `ETag`.
    func tag(_ request: StoreRequest) async throws(ObjectStoreError) -> String {
        guard let tag = try await fields(request)["ETag"], !tag.isEmpty else {
            throw AttemptFailure(lacking: "ETag", status: 200, in: request.operation).error
        }
        return tag
    }

    /// The headers with an object's media type and metadata.
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
                    .invalid, operation, words: "the metadata \(name) is not allowed in a header")
            }
            fields.append(("x-amz-meta-\(name)", value))
        }
        return fields
    }

    private static func isPrintable(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The properties of an object; `nil` if the store itself reports that there is none
    /// (`NoSuchKey`).
    ///
    /// An error response to HEAD has no document that distinguishes a missing object from a missing bucket, a
    /// proxy's 404 or a wrong clock. After an error the object's first byte is therefore requested,
    /// and that response decides.
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
            // The object exists and is empty.
            case .unsatisfiableRange: break
            default: throw error
            }
        }
        // The object was created meanwhile, or the clock has been corrected.
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

    /// Starts reading an object, or a range of it.
    ///
    /// - Parameter range: Bytes from 0 on, not empty; may end beyond the object. `nil` for the
    ///   whole object.
    /// - Throws: `missingObject`; `unsatisfiableRange` if the range starts beyond the end.
    public func get(
        _ key: ObjectKey, range: Range<Int64>? = nil
    ) async throws(ObjectStoreError) -> ObjectStream {
        guard range.map({ !$0.isEmpty && $0.lowerBound >= 0 }) ?? true else {
            throw ObjectStoreError(.invalid, "get object", words: "the range is empty")
        }
        let (source, response) = try await open(key, range: range, tag: nil)
        return ObjectStream(self, key, source, response)
    }

    /// Opens a range of one version of an object.
    ///
    /// - Parameter tag: The version's `ETag`; `preconditionFailed` if the object has changed.
    func open(
        _ key: ObjectKey, range: Range<Int64>?, tag: String?
    ) async throws(ObjectStoreError) -> (source: ClientResponseStream, response: RangeResponse) {
        var request = StoreRequest("get object", .get, fullKey(key))
        request.isDownload = true
        if let range {
            request.fields.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
        }
        if let tag { request.fields.append(("If-Match", tag)) }
        return try await perform(request) { stream throws(AttemptFailure) in
            guard
                let response = RangeResponse(status: stream.status, stream.fields, requested: range)
            else {
                stream.cancel()
                throw AttemptFailure(
                    lacking: "Content-Range, Content-Length and ETag", status: stream.status,
                    in: request.operation)
            }
            return (stream, response)
        }
    }

    /// Deletes an object; a missing object is a success.
    public func delete(_ key: ObjectKey) async throws(ObjectStoreError) {
        do throws(ObjectStoreError) {
            _ = try await fields(StoreRequest("delete object", .delete, fullKey(key)))
        } catch {
            // Some stores report a missing object, S3 does not.
            guard error.kind == .missingObject else { throw error }
        }
    }

    /// The objects in a folder below the store's prefix, requested in pages of a thousand. Keys
    /// that are no ``ObjectKey`` are skipped.
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
            // Without this encoding, keys could contain characters that XML forbids.
            ("list-type", "2"), ("encoding-type", "url"), ("prefix", settings.prefix + folder),
            ("max-keys", "1000"),
        ]
        if let token { request.query.append(("continuation-token", token)) }
        return try await document(request) { body throws(XMLError) in
            try ObjectPage(body, after: token)
        }
    }

    /// A URL with which any client can read an object directly from the store, for a limited time.
    ///
    /// The request may have range and conditional headers.
    ///
    /// - Parameters:
    ///   - method: `GET` or `HEAD`: the URL is valid for this method only.
    ///   - seconds: Clamped to 1…604,800, the range that stores accept (§10.2).
    ///   - overrides: Headers that the store sends instead of the object's own.
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
