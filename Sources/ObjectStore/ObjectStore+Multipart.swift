internal import HTTP
public import HTTPClient

/// A part of a multipart upload, as the store has it.
public struct ObjectPart: Sendable, Equatable {
    /// From 1 to 10,000; parts are assembled in ascending order (§10.2).
    public let number: Int
    /// In bytes.
    public let size: Int64
    /// The part's `ETag`, with its quotes.
    public let tag: String
    /// The CRC-32C in base64, if parts have one (§10.4).
    var sum: String?

    /// The most parts of an upload (§10.2).
    public static let maximumPartCount = 10_000

    /// Creates a part from the `ETag` that ``ObjectStore/putPart(_:upload:number:_:sha256:onBytesSent:)``
    /// returned and the size sent.
    public init(number: Int, size: Int64, tag: String) {
        self.number = number
        self.size = size
        self.tag = tag
    }
}

/// A multipart upload that was neither completed nor aborted.
public struct OpenMultipartUpload: Sendable, Equatable {
    /// Without the store's prefix.
    public let key: ObjectKey
    /// The upload id.
    public let upload: String
    /// When it was created, in milliseconds since 1970; `nil` if the store does not report it.
    public let initiated: Int64?
}

extension ObjectStore {
    /// Starts a multipart upload and returns its id.
    ///
    /// If the response of an attempt was lost, another upload remains, which
    /// ``openMultipartUploads()`` lists.
    ///
    /// - Parameters:
    ///   - type: The object's media type.
    ///   - metadata: As in ``put(_:_:type:sha256:metadata:condition:onBytesSent:)``.
    public func createMultipartUpload(
        _ key: ObjectKey, type: String, metadata: [String: String] = [:]
    ) async throws(ObjectStoreError) -> String {
        var request = StoreRequest("create", .post, fullKey(key))
        request.query = [("uploads", "")]
        request.fields = try description(type: type, metadata, in: request.operation)
        if settings.sendsPartChecksums { request.fields.append(Self.checksumAlgorithm) }
        request.body = .bytes([])
        let upload = try await document(request) { body throws(XMLError) in
            try XMLReader.member("UploadId", of: "InitiateMultipartUpload", body)
        }
        if settings.sendsPartChecksums { note(upload, hasChecksums: true) }
        return upload
    }

    /// Stores a part, replacing one with the same number.
    ///
    /// - Parameters:
    ///   - number: From 1 to 10,000.
    ///   - body: 5 MiB to 5 GiB, except that the last part may be shorter; read again for each
    ///     attempt.
    ///   - sha256: The body's SHA-256, if the caller has it; otherwise the body is read to compute
    ///     it.
    ///   - onBytesSent: Called with the bytes of the body sent so far; starts over with each
    ///     attempt.
    /// - Throws: `missingUpload` if the upload no longer exists.
    public func putPart(
        _ key: ObjectKey, upload: String, number: Int, _ body: ClientBody, sha256: [UInt8]? = nil,
        onBytesSent: (@Sendable (Int64) -> Void)? = nil
    ) async throws(ObjectStoreError) -> ObjectPart {
        var request = try part("part", key, upload, number)
        request.body = if case .none = body { .bytes([]) } else { body }
        let sums = try await sums(
            of: body, sha256: sha256, hasChecksums: hasChecksums(key, upload), in: request.operation
        )
        request.payload = sums.payload
        if let sum = sums.crc32c { request.fields.append(("x-amz-checksum-crc32c", sum)) }
        request.onBytesSent = onBytesSent
        return ObjectPart(number: number, size: body.count ?? 0, tag: try await tag(request))
    }

    /// Copies a range of another object of this bucket into a part, within the store.
    ///
    /// - Parameters:
    ///   - source: The other object.
    ///   - range: At least 5 MiB, unless this is the last part (§10.3).
    /// - Throws: `missingObject` if the source does not exist.
    public func copyPart(
        _ key: ObjectKey, upload: String, number: Int, from source: ObjectKey, range: Range<Int64>
    ) async throws(ObjectStoreError) -> ObjectPart {
        guard !range.isEmpty, range.lowerBound >= 0 else {
            throw ObjectStoreError(.invalid, "part copy", words: "the range is empty")
        }
        var request = try part("part copy", key, upload, number)
        request.body = .bytes([])
        request.stallTimeout = StoreRequest.longWork
        request.fields = [
            ("x-amz-copy-source", URIEncoding.path("/\(address.bucket)/\(fullKey(source))")),
            ("x-amz-copy-source-range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"),
        ]
        let tag = try await document(request) { body throws(XMLError) in
            try XMLReader.member("ETag", of: "CopyPart", body)
        }
        return ObjectPart(number: number, size: Int64(range.count), tag: tag)
    }

    private func part(
        _ operation: String, _ key: ObjectKey, _ upload: String, _ number: Int
    ) throws(ObjectStoreError) -> StoreRequest {
        guard (1...ObjectPart.maximumPartCount).contains(number) else {
            throw ObjectStoreError(
                .invalid, operation, words: "parts have numbers from 1 to 10000, not \(number)")
        }
        var request = StoreRequest(operation, .put, fullKey(key))
        request.query = [("partNumber", "\(number)"), ("uploadId", upload)]
        return request
    }

    /// Completes a multipart upload, which creates the object.
    ///
    /// - Parameter parts: At least one, in ascending order; all but the last of at least 5 MiB.
    /// - Throws: `missingUpload` also if an earlier attempt succeeded and its response was lost;
    ///   only the object's size in ``head(_:)`` shows whether it did (§10.3).
    public func complete(
        _ key: ObjectKey, upload: String, _ parts: [ObjectPart]
    ) async throws(ObjectStoreError) {
        guard !parts.isEmpty, zip(parts, parts.dropFirst()).allSatisfy({ $0.number < $1.number })
        else {
            throw ObjectStoreError(
                .invalid, "complete", words: "the parts are none, or not in ascending order")
        }
        var request = StoreRequest("complete", .post, fullKey(key))
        request.query = [("uploadId", upload)]
        request.stallTimeout = StoreRequest.longWork
        request.fields = [("Content-Type", "application/xml")]
        let document = CompletionDocument.bytes(try await addingChecksums(parts, of: key, upload))
        request.body = .bytes(document)
        request.payload = PayloadDigest(of: document)
        _ = try await self.document(request) { body throws(XMLError) in
            try XMLReader.member("ETag", of: "CompleteMultipartUpload", body)
        }
        note(upload, hasChecksums: nil)
    }

    /// Aborts a multipart upload, repeatedly until the store has no parts of it: parts in flight
    /// can survive an abort (§10.3). An upload that does not exist is a success.
    ///
    /// - Throws: `busy` if parts are left after all attempts.
    public func abort(_ key: ObjectKey, upload: String) async throws(ObjectStoreError) {
        var request = StoreRequest("abort", .delete, fullKey(key))
        request.query = [("uploadId", upload)]
        var attempts = 1
        while true {
            do throws(ObjectStoreError) {
                _ = try await fields(request)
                guard try await holdsParts(key, upload) else { break }
            } catch {
                guard error.kind != .missingUpload else { break }
                throw error
            }
            guard attempts < settings.attempts else {
                throw ObjectStoreError(
                    .busy, request.operation, words: "parts are left after \(attempts) aborts")
            }
            try await wait(after: attempts, in: request.operation)
            attempts += 1
        }
        note(upload, hasChecksums: nil)
    }

    private func holdsParts(
        _ key: ObjectKey, _ upload: String
    ) async throws(ObjectStoreError) -> Bool {
        try await !page(key, upload, after: 0, atMost: 1).parts.isEmpty
    }
}

/// `<CompleteMultipartUpload>`: the list of an object's parts (§10.3).
enum CompletionDocument {
    /// Writes the parts, in ascending order.
    static func bytes(_ parts: [ObjectPart]) -> [UInt8] {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for part in parts {
            text += "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(escaped(part.tag))</ETag>"
            if let sum = part.sum { text += "<ChecksumCRC32C>\(escaped(sum))</ChecksumCRC32C>" }
            text += "</Part>"
        }
        text += "</CompleteMultipartUpload>"
        return Array(text.utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}

extension ObjectStore {
    /// All parts that the store has of a multipart upload, in ascending order.
    ///
    /// - Throws: `missingUpload`, which does not prove that the upload was completed (§10.3).
    public func parts(
        _ key: ObjectKey, upload: String
    ) async throws(ObjectStoreError) -> [ObjectPart] {
        var parts: [ObjectPart] = []
        var marker: Int? = 0
        while let place = marker {
            let page = try await page(key, upload, after: place, atMost: 1000)
            parts += page.parts
            marker = page.next
        }
        return parts
    }

    /// The open multipart uploads below the store's prefix, requested in pages of a thousand. Keys
    /// that are no ``ObjectKey`` are skipped.
    public func openMultipartUploads() -> some AsyncSequence<OpenMultipartUpload, ObjectStoreError>
        & Sendable
    {
        PagedList { (marker: MultipartPage.Marker?) async throws(ObjectStoreError) in
            let page = try await page("list uploads", after: marker, atMost: 1000)
            let uploads = page.uploads.compactMap { upload in
                key(upload.key).map { key in
                    OpenMultipartUpload(
                        key: key, upload: upload.upload, initiated: upload.initiated)
                }
            }
            return (uploads, page.next)
        }
    }

    /// Requests one page of parts.
    func page(
        _ key: ObjectKey, _ upload: String, after marker: Int, atMost limit: Int
    ) async throws(ObjectStoreError) -> PartPage {
        var request = StoreRequest("list", .get, fullKey(key))
        request.query = [
            ("uploadId", upload), ("max-parts", "\(limit)"), ("part-number-marker", "\(marker)"),
        ]
        return try await document(request) { body throws(XMLError) in
            try PartPage(body, after: marker)
        }
    }

    /// Requests one page of open uploads.
    func page(
        _ operation: String, after marker: MultipartPage.Marker?, atMost limit: Int
    ) async throws(ObjectStoreError) -> MultipartPage {
        var request = StoreRequest(operation, .get, nil)
        request.query = [
            // Without this encoding, keys could contain characters that XML forbids.
            ("uploads", ""), ("encoding-type", "url"), ("prefix", settings.prefix),
            ("max-uploads", "\(limit)"),
        ]
        if let marker {
            // An empty key marker would be taken as a key.
            if !marker.key.isEmpty { request.query.append(("key-marker", marker.key)) }
            request.query.append(("upload-id-marker", marker.upload))
        }
        return try await document(request) { body throws(XMLError) in
            try MultipartPage(body, after: marker)
        }
    }
}
