internal import HTTP

/// A creation of dialect C, at the creation endpoint or aimed at an upload that is known (§7.6).
struct InteropCreation: Sendable {
    /// Says how a body is sent, and nothing of the content.
    static let partialType = "application/partial-upload"

    let append: Append
    /// What the name of the content may be.
    let fileName: String?

    /// Reads the head.
    init(_ request: Request, _ version: InteropVersion) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        guard let isComplete = version.completeness(fields) else {
            throw .completeness(version)
        }
        // One that does not parse counts as absent.
        guard fields.structuredInteger("Upload-Offset") ?? 0 == 0 else {

            throw .invalid(
                "Upload-Offset must be 0 or absent when an upload is created; append with PATCH.")

        }
        var append = Append(
            rule: .overlap, first: 0, bodyLength: request.framing.bodyLength,
            end: isComplete ? .always : .never)
        append.total = try InteropRequest.total(append, version, fields)
        if let bodyLength = append.bodyLength, bodyLength > append.total ?? .max {
            throw .beyondLength
        }
        append.bodyDigests = try BodyDigest.list(fields, "Content-Digest")
        for digest in try BodyDigest.list(fields, "Repr-Digest") { append.declared.add(digest) }
        let type = fields["Content-Type"]
        let essence = type.map { MediaType(untrusted: $0).essence }
        append.mediaType = essence == InteropCreation.partialType ? nil : type
        append.failsOnOverflow = version.failsOnOverflow
        append.awaitsContinue = fields.contains("Expect")
        self.append = append
        fileName = fields["Content-Disposition"].flatMap(DispositionName.read)
    }
}
