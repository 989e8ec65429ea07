internal import HTTP

/// One page of the open multipart uploads of a bucket (`ListMultipartUploadsResult`, §10.3).
struct MultipartPage {
    struct Upload: Equatable {
        /// With the prefix of the store.
        var key: String
        var upload: String
        var initiated: Int64?
    }

    struct Marker: Equatable {
        /// Empty where a store goes by uploads alone, as SeaweedFS does.
        var key: String
        var upload: String
    }

    private(set) var uploads: [Upload] = []
    /// Where the next page begins; `nil` on the last.
    private(set) var next: Marker?

    /// - Parameter marker: Where this page begins; a store that repeats itself is noticed.
    init(_ octets: [UInt8], after marker: Marker?) throws(XMLFault) {
        var reader = try XMLReader(octets)
        try reader.enter("ListMultipartUploads")
        var (isTruncated, isEncoded) = (false, false)
        var following = Marker(key: "", upload: "")
        while let name = try reader.child() {
            switch name {
            case "Upload": uploads.append(try Self.upload(&reader))
            case "IsTruncated": isTruncated = try reader.claim()
            case "EncodingType": isEncoded = try reader.text() == "url"
            case "NextKeyMarker": following.key = try reader.text()
            case "NextUploadIdMarker": following.upload = try reader.text()
            default: try reader.pass()
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

    private static func upload(_ reader: inout XMLReader) throws(XMLFault) -> Upload {
        var (key, upload): (String?, String?) = (nil, nil)
        var initiated: Int64?
        while let name = try reader.child() {
            switch name {
            case "Key": key = try reader.text()
            case "UploadId": upload = try reader.text()
            case "Initiated": initiated = milliseconds(try reader.text())
            default: try reader.pass()
            }
        }
        guard let key, let upload, !key.isEmpty, !upload.isEmpty else {
            throw .meaningless("an upload lacks its key or id")
        }
        return Upload(key: key, upload: upload, initiated: initiated)
    }

    static func decoded(_ key: String) throws(XMLFault) -> String {
        guard let key = URIEncoding.decoded(key) else { throw .meaningless("a key is not encoded") }
        return key
    }

    /// `2030-01-31T23:59:59.000Z`, in milliseconds since 1970; what is below a second is left out.
    static func milliseconds(_ text: String) -> Int64? {
        let pieces = text.split(omittingEmptySubsequences: false) { "-T:Z".contains($0) }
        guard pieces.count == 7, pieces[6].isEmpty else { return nil }
        let numbers = pieces.prefix(6).compactMap { piece in
            Int64(decimal: piece.prefix { $0 != "." }.utf8)
        }
        guard numbers.count == 6, (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
            numbers[0] <= 9999, numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60
        else { return nil }
        let days = HTTPDate.daysSinceEpoch(Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
        return (days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]) * 1000
    }
}
