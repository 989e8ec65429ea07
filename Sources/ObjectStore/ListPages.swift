internal import Bytes
internal import HTTP

/// The elements of a paged list of any length; one page is in memory at a time.
struct PagedList<Element: Sendable, Marker: Sendable>: AsyncSequence, AsyncIteratorProtocol,
    Sendable
{
    typealias Failure = ObjectStoreError
    /// Requests the page after a marker, or the first page.
    typealias LoadPage =
        @Sendable (_ marker: Marker?) async throws(ObjectStoreError) -> (
            elements: [Element], next: Marker?
        )

    private let loadPage: LoadPage
    private var page: ArraySlice<Element> = []
    private var marker: Marker?
    private var isLast = false

    init(_ loadPage: @escaping LoadPage) { self.loadPage = loadPage }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws(ObjectStoreError) -> Element? {
        // A page may be empty after filtering.
        while page.isEmpty, !isLast {
            let (elements, next) = try await loadPage(marker)
            (page, marker, isLast) = (elements[...], next, next == nil)
        }
        return page.popFirst()
    }
}

/// One page of a bucket's objects (`ListBucketResult`).
struct ObjectPage {
    struct Object: Equatable {
        /// With the store's prefix.
        var key: String
        var modified: Int64?
        var size: Int64
    }

    private(set) var objects: [Object] = []
    /// The token for the next page; `nil` on the last.
    private(set) var next: String?

    /// - Parameter token: The token of this page, to detect a store that repeats itself.
    init(_ bytes: [UInt8], after token: String?) throws(XMLError) {
        var reader = try XMLReader(bytes)
        try reader.enter("ListBucket")
        var (isTruncated, isEncoded) = (false, false)
        var following: String?
        while let name = try reader.child() {
            switch name {
            case "Contents": objects.append(try Self.object(&reader))
            case "IsTruncated": isTruncated = try reader.boolean()
            case "EncodingType": isEncoded = try reader.text() == "url"
            case "NextContinuationToken": following = try reader.text()
            default: try reader.skip()
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

    private static func object(_ reader: inout XMLReader) throws(XMLError) -> Object {
        var key: String?
        var (modified, size): (Int64?, Int64?) = (nil, nil)
        while let name = try reader.child() {
            switch name {
            case "Key": key = try reader.text()
            case "LastModified": modified = ISO8601.parse(try reader.text())
            case "Size": size = try reader.number()
            default: try reader.skip()
            }
        }
        guard let key, let size, !key.isEmpty else {
            throw .meaningless("an object lacks its key or size")
        }
        return Object(key: key, modified: modified, size: size)
    }
}

/// One page of the parts of a multipart upload (`ListPartsResult`, §10.3).
struct PartPage {
    /// In ascending order of part numbers.
    var parts: [ObjectPart] = []
    /// Whether parts have a CRC-32C (§10.4).
    var hasChecksums = false
    /// The marker of the next page; `nil` on the last.
    var next: Int?

    /// - Parameter marker: The part number before this page, to detect a store that repeats itself.
    init(_ bytes: [UInt8], after marker: Int) throws(XMLError) {
        var reader = try XMLReader(bytes)
        try reader.enter("ListParts")
        var isTruncated = false
        var nextMarker: Int?
        while let name = try reader.child() {
            switch name {
            case "Part": parts.append(try Self.part(&reader))
            case "ChecksumAlgorithm":
                hasChecksums = try reader.text() == ObjectStore.checksumAlgorithm.value
            case "IsTruncated": isTruncated = try reader.boolean()
            case "NextPartNumberMarker": nextMarker = Int(try reader.number())
            default: try reader.skip()
            }
        }
        try reader.finish()
        var last = marker
        for part in parts {
            guard part.number > last, part.number <= ObjectPart.maximumPartCount else {
                throw .meaningless("parts are not in order")
            }
            last = part.number
        }
        guard isTruncated else { return }
        guard let nextMarker, nextMarker == last, last > marker else {
            throw .meaningless("the next page begins nowhere")
        }
        next = nextMarker
    }

    private static func part(_ reader: inout XMLReader) throws(XMLError) -> ObjectPart {
        var (number, size): (Int64?, Int64?) = (nil, nil)
        var (tag, sum): (String?, String?) = (nil, nil)
        while let name = try reader.child() {
            switch name {
            case "PartNumber": number = try reader.number()
            case "Size": size = try reader.number()
            case "ETag": tag = try reader.text()
            case "ChecksumCRC32C": sum = try reader.text()
            default: try reader.skip()
            }
        }
        guard let number = number.flatMap(Int.init(exactly:)), number > 0, let size,
            let tag, !tag.isEmpty
        else { throw .meaningless("a part lacks its number, size or ETag") }
        var part = ObjectPart(number: number, size: size, tag: tag)
        part.sum = sum
        return part
    }
}

/// One page of a bucket's open multipart uploads (`ListMultipartUploadsResult`, §10.3).
struct MultipartPage {
    struct Upload: Equatable {
        /// With the store's prefix.
        var key: String
        var upload: String
        var initiated: Int64?
    }

    struct Marker: Equatable {
        /// Empty in stores that page by upload id alone, such as SeaweedFS.
        var key: String
        var upload: String
    }

    private(set) var uploads: [Upload] = []
    /// The marker of the next page; `nil` on the last.
    private(set) var next: Marker?

    /// - Parameter marker: The marker of this page, to detect a store that repeats itself.
    init(_ bytes: [UInt8], after marker: Marker?) throws(XMLError) {
        var reader = try XMLReader(bytes)
        try reader.enter("ListMultipartUploads")
        var (isTruncated, isEncoded) = (false, false)
        var following = Marker(key: "", upload: "")
        while let name = try reader.child() {
            switch name {
            case "Upload": uploads.append(try Self.upload(&reader))
            case "IsTruncated": isTruncated = try reader.boolean()
            case "EncodingType": isEncoded = try reader.text() == "url"
            case "NextKeyMarker": following.key = try reader.text()
            case "NextUploadIdMarker": following.upload = try reader.text()
            default: try reader.skip()
            }
        }
        try reader.finish()
        if isEncoded {
            following.key = try Self.decoded(following.key)
            for index in uploads.indices {
                uploads[index].key = try Self.decoded(uploads[index].key)
            }
        }
        guard isTruncated else { return }
        guard !following.key.isEmpty || !following.upload.isEmpty, following != marker else {
            throw .meaningless("the next page begins nowhere")
        }
        next = following
    }

    private static func upload(_ reader: inout XMLReader) throws(XMLError) -> Upload {
        var (key, upload): (String?, String?) = (nil, nil)
        var initiated: Int64?
        while let name = try reader.child() {
            switch name {
            case "Key": key = try reader.text()
            case "UploadId": upload = try reader.text()
            case "Initiated": initiated = ISO8601.parse(try reader.text())
            default: try reader.skip()
            }
        }
        guard let key, let upload, !key.isEmpty, !upload.isEmpty else {
            throw .meaningless("an upload lacks its key or id")
        }
        return Upload(key: key, upload: upload, initiated: initiated)
    }

    static func decoded(_ key: String) throws(XMLError) -> String {
        guard let key = URIEncoding.decoded(key) else { throw .meaningless("a key is not encoded") }
        return key
    }
}
