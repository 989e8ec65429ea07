internal import HTTP
internal import HTTPClient

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
    /// - Parameter tag: That state's `ETag`; `lostRace` when the object is another meanwhile.
    func open(
        _ key: ObjectKey, range: Range<Int64>?, tag: String?
    ) async throws(ObjectStoreError) -> (source: ClientStream, stretch: ObjectStretch) {
        var request = StoreRequest("get object", .get, fullKey(key))
        request.isDownload = true
        if let range {
            request.fields.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
        }
        if let tag { request.fields.append(("If-Match", tag)) }
        return try await perform(request) { stream throws(Fault) in
            guard
                let stretch = ObjectStretch(status: stream.status, stream.fields, asked: range)
            else {
                stream.cancel()
                throw Fault(
                    lacking: "Content-Range, Content-Length and ETag", status: stream.status,
                    in: request.operation)
            }
            return (stream, stretch)
        }
    }
}
