/// One page of the objects of a bucket (`ListBucketResult`).
struct ObjectPage {
    struct Object: Equatable {
        /// With the prefix of the store.
        var key: String
        var modified: Int64?
        var size: Int64
    }

    private(set) var objects: [Object] = []
    /// What the next page is asked for with; `nil` on the last.
    private(set) var next: String?

    /// - Parameter token: What this page was asked for with; a store that repeats itself is noticed.
    init(_ octets: [UInt8], after token: String?) throws(XMLFault) {
        var reader = try XMLReader(octets)
        try reader.enter("ListBucket")
        var (isTruncated, isEncoded) = (false, false)
        var following: String?
        while let name = try reader.child() {
            switch name {
            case "Contents": objects.append(try Self.object(&reader))
            case "IsTruncated": isTruncated = try reader.claim()
            case "EncodingType": isEncoded = try reader.text() == "url"
            case "NextContinuationToken": following = try reader.text()
            default: try reader.pass()
            }
        }
        try reader.finish()
        if isEncoded {
            for index in objects.indices {
                objects[index].key = try MultipartPage.decoded(objects[index].key)
            }
        }
        guard isTruncated else { return }
        guard let following, !following.isEmpty, following != token else {
            throw .meaningless("the next page begins nowhere")
        }
        next = following
    }

    private static func object(_ reader: inout XMLReader) throws(XMLFault) -> Object {
        var key: String?
        var (modified, size): (Int64?, Int64?) = (nil, nil)
        while let name = try reader.child() {
            switch name {
            case "Key": key = try reader.text()
            case "LastModified": modified = MultipartPage.milliseconds(try reader.text())
            case "Size": size = try reader.number()
            default: try reader.pass()
            }
        }
        guard let key, let size, !key.isEmpty else {
            throw .meaningless("an object lacks its key or size")
        }
        return Object(key: key, modified: modified, size: size)
    }
}
