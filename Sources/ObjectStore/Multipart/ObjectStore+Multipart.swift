internal import HTTP
public import HTTPClient

extension ObjectStore {
    /// Begins a multipart upload; its name in the store.
    ///
    /// After an attempt whose answer was lost there is one more, which ``multiparts()`` finds.
    ///
    /// - Parameters:
    ///   - type: The media type of the object.
    ///   - metadata: As ``put(_:_:type:sha256:metadata:condition:onSent:)`` takes it.
    public func createMultipart(
        _ key: ObjectKey, type: String, metadata: [String: String] = [:]
    ) async throws(ObjectStoreError) -> String {
        var request = StoreRequest("create", .post, fullKey(key))
        request.query = [("uploads", "")]
        request.fields = try description(type: type, metadata, in: request.operation)
        if settings.sumsParts { request.fields.append(Self.sum) }
        request.body = .octets([])
        let upload = try await document(request) { body throws(XMLFault) in
            try XMLReader.member("UploadId", of: "InitiateMultipartUpload", body)
        }
        if settings.sumsParts { note(upload, isSummed: true) }
        return upload
    }

    /// Stores a part; one of the same number is replaced.
    ///
    /// - Parameters:
    ///   - number: 1…10,000.
    ///   - body: 5 MiB to 5 GiB, the last part down to nothing; read again for each attempt.
    ///   - sha256: The 32 bytes of the body's SHA-256, where the caller has them; the body is read for
    ///     them otherwise.
    ///   - onSent: Told how many octets of the body went out; starts over with each attempt.
    /// - Throws: `missingUpload` when there is no such upload any more.
    public func putPart(
        _ key: ObjectKey, upload: String, number: Int, _ body: ClientBody, sha256: [UInt8]? = nil,
        onSent: (@Sendable (Int64) -> Void)? = nil
    ) async throws(ObjectStoreError) -> ObjectPart {
        var request = try part("part", key, upload, number)
        request.body = if case .none = body { .octets([]) } else { body }
        let sums = try await sums(
            of: body, sha256: sha256, isSummed: isSummed(key, upload), in: request.operation)
        request.payload = sums.payload
        if let sum = sums.crc32c { request.fields.append(("x-amz-checksum-crc32c", sum)) }
        request.onSent = onSent
        return ObjectPart(number: number, size: body.count ?? 0, tag: try await tag(request))
    }

    /// Stores a part out of another object of this bucket, without its bytes coming here.
    ///
    /// - Parameters:
    ///   - source: The other object.
    ///   - range: Bytes of it, at least 5 MiB unless this is the last part (§10.3).
    /// - Throws: `missingObject` when there is no such source.
    public func copyPart(
        _ key: ObjectKey, upload: String, number: Int, from source: ObjectKey, range: Range<Int64>
    ) async throws(ObjectStoreError) -> ObjectPart {
        guard !range.isEmpty, range.lowerBound >= 0 else {
            throw ObjectStoreError(.invalid, "part copy", words: "the range is empty")
        }
        var request = try part("part copy", key, upload, number)
        request.body = .octets([])
        request.stallsFor = StoreRequest.longWork
        request.fields = [
            ("x-amz-copy-source", URIEncoding.path("/\(address.bucket)/\(fullKey(source))")),
            ("x-amz-copy-source-range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"),
        ]
        let tag = try await document(request) { body throws(XMLFault) in
            try XMLReader.member("ETag", of: "CopyPart", body)
        }
        return ObjectPart(number: number, size: Int64(range.count), tag: tag)
    }

    private func part(
        _ operation: String, _ key: ObjectKey, _ upload: String, _ number: Int
    ) throws(ObjectStoreError) -> StoreRequest {
        guard (1...ObjectPart.mostParts).contains(number) else {
            throw ObjectStoreError(
                .invalid, operation, words: "parts have numbers from 1 to 10000, not \(number)")
        }
        var request = StoreRequest(operation, .put, fullKey(key))
        request.query = [("partNumber", "\(number)"), ("uploadId", upload)]
        return request
    }
}
