internal import HTTP

extension ObjectStore {
    /// How many objects are listed at once, at most.
    private static let mostObjects = 10_000

    /// The objects below a folder of the store's prefix, at most 10,000: what is beyond comes when those
    /// were deleted. Others' keys that no ``ObjectKey`` can name are left out.
    ///
    /// - Parameter folder: Ends with `/`.
    public func objects(below folder: String) async throws(ObjectStoreError) -> [StoredKey] {
        var objects: [StoredKey] = []
        var token: String?
        repeat {
            let page = try await page(below: folder, after: token)
            for object in page.objects {
                guard let key = key(object.key, below: folder) else { continue }
                objects.append(
                    StoredKey(key: key, modified: object.modified, size: object.size))
            }
            token = page.next
        } while token != nil && objects.count < Self.mostObjects
        return objects
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
        return try await document(request) { body throws(XMLFault) in
            try ObjectPage(body, after: token)
        }
    }
}
