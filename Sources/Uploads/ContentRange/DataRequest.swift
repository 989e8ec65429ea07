internal import HTTP

/// What a `PUT` or `POST` to the upload resource asks for, read from its head (§5.2, §8).
struct DataRequest: Sendable {
    /// The two things it can be.
    enum Action: Sendable {
        case append(Append)
        /// Status query; the body must be empty.
        case query(total: Int64?)
    }

    let action: Action
    /// The client takes a real 308 for an error (§5.4).
    let wantsNo308: Bool

    /// Reads the head.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` and its like; nothing is consumed then.
    init(_ request: Request) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        wantsNo308 = fields["X-GUploader-No-308"]?.lowercased() == "yes"
        let length = request.framing.bodyLength
        guard let text = try fields.single("Content-Range") else {
            var append = try DataRequest.append(
                fields, Append(first: 0, total: length, bodyLength: length, end: .always))
            // Form libraries state one for every POST, whatever they send (ruling 22).
            if request.method == .post { append.mediaType = nil }
            action = .append(append)
            return
        }
        guard let range = ContentRange(text) else {
            throw .invalid(
                "Content-Range must be bytes FIRST-LAST/TOTAL, bytes FIRST-*/TOTAL or bytes */TOTAL, with * for an unknown TOTAL."
            )
        }
        action = try DataRequest.action(range, length, fields)
    }

    private static func action(
        _ range: ContentRange, _ length: Int64?, _ fields: Fields
    ) throws(UploadError) -> Action {
        var append: Append
        switch range {
        case .query(let total):
            if let length, length > 0 { throw .queryWithBody }
            return .query(total: total)
        case .part(let first, let last, let total):
            append = Append(
                first: first, last: last, total: total, bodyLength: length, end: .atLength)
        case .rest(let first, let total):
            append = Append(
                first: first, total: total, bodyLength: length,
                end: total == nil ? .atCleanEnd : .atLength)
        }
        append.wantsMD5 = true
        return .append(try self.append(fields, append))
    }

    /// Adds the digests and the media type.
    private static func append(
        _ fields: Fields, _ append: Append
    ) throws(UploadError) -> Append {
        var append = append
        append.declared = try DeclaredDigests(lines: fields.values("X-Goog-Hash"))
        if let text = try fields.single("Content-MD5") {
            let value = try DeclaredDigests.bytes(text.trimmed, count: 16, in: "Content-MD5")
            append.bodyDigests = [BodyDigest(algorithm: .md5, value: value)]
        }
        append.mediaType = fields["Content-Type"]
        append.awaitsContinue = fields.contains("Expect")
        return append
    }
}

extension UploadError {
    /// A status query that brings bytes.
    static let queryWithBody = UploadError.invalid(
        "Content-Range: bytes */TOTAL asks for the offset and must have no body; name the bytes of the body in Content-Range."
    )
}
