internal import HTTP

/// A creation as tus asks for it, read from its head (§6.3, §6.10).
struct TusCreation: Sendable {
    /// What the upload is made from.
    enum Source: Sendable {
        /// Bytes that are still to come.
        case bytes
        /// Uploads that are there, by these references.
        case uploads([String])
    }

    /// Largest body of another kind, in bytes; it is discarded.
    static let discarded = 64 << 10

    let source: Source
    /// `nil` while unknown.
    let length: Int64?
    let metadata: UploadMetadata
    /// For the echo.
    let terms: TusTerms
    /// The body, where it is upload data.
    let append: Append?

    /// Reads the head, in the order of §3.2: media type, syntax, lengths.
    init(_ request: Request) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        let isData = TusProtocol.isData(fields)
        let bodyLength = request.framing.bodyLength
        if !isData, bodyLength ?? 0 > TusCreation.discarded { throw .wrongMediaType }
        let concat = try fields.single("Upload-Concat")
        let role = try concat.map { value throws(UploadError) in try UploadConcat(value) }
        length = try TusCreation.length(fields, role)
        _ = try fields.single("Upload-Metadata")
        metadata = try UploadMetadata(fields.octets("Upload-Metadata") ?? [])
        terms = TusTerms(metadata: metadata.raw, concat: concat)
        if case .final(let references) = role {
            if isData && bodyLength != 0 { throw .concatenated }
            source = .uploads(references)
            append = nil
            return
        }
        source = .bytes
        append = isData ? try TusCreation.append(request, bodyLength, length) : nil
    }

    /// Exactly one way to say how long it will be; a concatenation knows by itself.
    private static func length(
        _ fields: Fields, _ role: UploadConcat?
    ) throws(UploadError) -> Int64? {
        let length = try fields.number("Upload-Length")
        let deferred = try fields.single("Upload-Defer-Length")
        if let deferred, deferred != "1" {
            throw .invalid(
                "Upload-Defer-Length must be 1; send Upload-Length instead when the length is known."
            )
        }
        if case .final = role {
            if deferred != nil {
                throw .invalid(
                    "Upload-Defer-Length does not go with a final concatenation, whose length is the sum of its parts; leave it out."
                )
            }
            return length
        }
        guard (length == nil) != (deferred == nil) else {
            throw .invalid(
                "Exactly one of Upload-Length and Upload-Defer-Length is required; send Upload-Defer-Length: 1 when the length is unknown."
            )
        }
        return length
    }

    private static func append(
        _ request: Request, _ bodyLength: Int64?, _ length: Int64?
    ) throws(UploadError) -> Append {
        var append = Append(rule: .exact, first: 0, bodyLength: bodyLength, end: .atLength)
        try TusChecksum(request).add(to: &append)
        if let bodyLength, bodyLength > length ?? .max { throw .beyondLength }
        return append
    }
}
