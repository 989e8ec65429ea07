internal import HTTP

extension ObjectStore {
    /// The objects below a folder of the store's prefix, asked for a thousand at a time. Others' keys that
    /// no ``ObjectKey`` can name are left out.
    ///
    /// - Parameter folder: Ends with `/`.
    public func objects(below folder: String) -> some AsyncSequence<StoredKey, ObjectStoreError>
        & Sendable
    {
        PagedList { (token: String?) async throws(ObjectStoreError) in
            let page = try await page(below: folder, after: token)
            let objects = page.objects.compactMap { object in
                key(object.key, below: folder).map { key in
                    StoredKey(key: key, modified: object.modified, size: object.size)
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
        return try await document(request) { body throws(XMLFault) in
            try ObjectPage(body, after: token)
        }
    }
}
