internal import HTTP

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
