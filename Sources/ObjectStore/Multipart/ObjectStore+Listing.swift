internal import HTTP

extension ObjectStore {
    /// Every part the store holds of a multipart upload, in ascending order of their numbers.
    ///
    /// - Throws: `missingUpload`, which is no proof that it was completed (§10.3).
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

    /// The open multipart uploads below the store's prefix, asked for a thousand at a time. Others' keys
    /// that no ``ObjectKey`` can name are left out.
    public func multiparts() -> some AsyncSequence<OpenMultipart, ObjectStoreError>
        & Sendable
    {
        PagedList { (marker: MultipartPage.Marker?) async throws(ObjectStoreError) in
            let page = try await page("list uploads", after: marker, atMost: 1000)
            let uploads = page.uploads.compactMap { upload in
                key(upload.key).map { key in
                    OpenMultipart(key: key, upload: upload.upload, initiated: upload.initiated)
                }
            }
            return (uploads, page.next)
        }
    }

    /// One page of parts.
    func page(
        _ key: ObjectKey, _ upload: String, after marker: Int, atMost limit: Int
    ) async throws(ObjectStoreError) -> PartPage {
        var request = StoreRequest("list", .get, fullKey(key))
        request.query = [
            ("uploadId", upload), ("max-parts", "\(limit)"), ("part-number-marker", "\(marker)"),
        ]
        return try await document(request) { body throws(XMLFault) in
            try PartPage(body, after: marker)
        }
    }

    /// One page of open uploads.
    func page(
        _ operation: String, after marker: MultipartPage.Marker?, atMost limit: Int
    ) async throws(ObjectStoreError) -> MultipartPage {
        var request = StoreRequest(operation, .get, nil)
        request.query = [
            // Keys hold what XML cannot.
            ("uploads", ""), ("encoding-type", "url"), ("prefix", settings.prefix),
            ("max-uploads", "\(limit)"),
        ]
        if let marker {
            // An empty key would name one.
            if !marker.key.isEmpty { request.query.append(("key-marker", marker.key)) }
            request.query.append(("upload-id-marker", marker.upload))
        }
        return try await document(request) { body throws(XMLFault) in
            try MultipartPage(body, after: marker)
        }
    }
}
