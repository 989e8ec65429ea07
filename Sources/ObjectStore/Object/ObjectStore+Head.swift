internal import HTTP
internal import HTTPClient

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
            try await perform(question) { stream throws(Fault) in stream.cancel() }
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
            throw Fault(lacking: "Content-Length or ETag", status: 200, in: request.operation).error
        }
        return summary
    }
}
