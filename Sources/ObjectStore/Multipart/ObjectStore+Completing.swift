internal import HTTP
internal import HTTPClient

extension ObjectStore {
    /// Makes an object of its parts.
    ///
    /// - Parameter parts: At least one, in ascending order; all but the last of 5 MiB at least.
    /// - Throws: `missingUpload` also when an earlier attempt succeeded and its answer was lost: whether
    ///   it did, ``head(_:)`` tells by the object's size, and nothing else does (§10.3).
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
        request.stallsFor = StoreRequest.longWork
        request.fields = [("Content-Type", "application/xml")]
        let document = CompletionDocument.octets(try await summing(parts, of: key, upload))
        request.body = .octets(document)
        request.payload = PayloadDigest(of: document)
        _ = try await self.document(request) { body throws(XMLFault) in
            try XMLReader.member("ETag", of: "CompleteMultipartUpload", body)
        }
        note(upload, isSummed: nil)
    }

    /// Ends a multipart upload and takes its parts away, until the store says that nothing is left:
    /// parts in flight can survive one abort (§10.3). That there is no such upload is success.
    ///
    /// - Throws: `busy` when parts are still there after all attempts.
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
        note(upload, isSummed: nil)
    }

    private func holdsParts(
        _ key: ObjectKey, _ upload: String
    ) async throws(ObjectStoreError) -> Bool {
        try await !page(key, upload, after: 0, atMost: 1).parts.isEmpty
    }
}
