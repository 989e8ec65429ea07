internal import HTTP

/// The version of the IETF protocol that a request uses (§7.1); its properties are the rows of the table of
/// differences.
enum InteropVersion: Hashable, Sendable {
    /// A supported draft, 3 to 8.
    case draft(Int)
    /// Another number: the rules of 8, without its header in responses and without `104`.
    case other
    /// No number, as in the final RFC: the rules of 8.
    case final

    /// Reads the value of `Upload-Draft-Interop-Version`.
    init(number: Int64) {
        self = (3...8).contains(number) ? .draft(Int(number)) : .other
    }

    /// The draft whose rules apply, 3 to 8.
    var rules: Int {
        if case .draft(let number) = self { number } else { 8 }
    }

    /// The value of `Upload-Draft-Interop-Version` in responses.
    var named: Int? {
        if case .draft(let number) = self { number } else { nil }
    }

    /// Whether the header is `Upload-Incomplete` instead of `Upload-Complete`, with the opposite meaning.
    var saysIncomplete: Bool { rules == 3 }
    /// Whether an append without a completeness header is refused; earlier versions treat it as the last one.
    var needsCompleteness: Bool { rules >= 7 }
    /// Whether appends must have the media type `application/partial-upload`.
    var needsPartialType: Bool { rules >= 6 }
    /// Whether `Upload-Length` and `Upload-Limit` exist.
    var knowsLengths: Bool { rules >= 6 }
    /// The key of the remaining lifetime in `Upload-Limit`.
    var lifetimeKey: String { rules == 6 ? "expires" : "max-age" }
    /// Whether `104` may report progress.
    var reportsProgress: Bool { rules >= 5 }
    /// Whether a status request or cancellation that states an offset or completeness is refused; later versions
    /// ignore these headers.
    var refusesStatedStatus: Bool { rules <= 6 }
    /// Whether a byte beyond the length fails the whole upload (§4.2).
    var failsOnOverflow: Bool { rules >= 7 }
}

/// A request of protocol C, parsed from its header (§7.6–7.9).
struct InteropRequest: Sendable {
    /// The purpose of the request.
    enum Action: Sendable {
        /// Bytes from the first one on, of a new upload or of an existing one.
        case create(InteropCreation)
        /// More bytes.
        case append(AppendRequest)
        /// The offset.
        case status
        /// Cancellation.
        case cancel
    }

    let action: Action

    /// Parses the header of a request.
    ///
    /// - Throws: ``UploadError``; nothing is read or created then.
    init(_ request: Request, _ version: InteropVersion) throws(UploadError) {
        switch request.method {
        // `OPTIONS` is answered before (§3.7).
        case .head, .get, .options:
            try InteropRequest.requireBare(request, version)
            action = .status
        case .delete:
            try InteropRequest.requireBare(request, version)
            action = .cancel
        case .post, .put: action = .create(try InteropCreation(request, version))
        case .patch: action = .append(try InteropRequest.append(request, version))
        }
    }

    /// Table 7.1: versions up to 6 refuse headers that state an offset or a length.
    private static func requireBare(
        _ request: Request, _ version: InteropVersion
    ) throws(UploadError) {
        guard version.refusesStatedStatus else { return }
        var fields: [FieldName] = ["Upload-Offset", version.completenessField]
        if version.rules == 6 && request.method != .delete { fields.append("Upload-Length") }
        for field in fields where request.fields.contains(field) {

            throw .invalid(
                "\(field) does not go with HEAD, GET or DELETE in this version of the protocol; leave it out."
            )

        }
    }

    /// `PATCH` (§7.8), in the order of its checks.
    private static func append(
        _ request: Request, _ version: InteropVersion
    ) throws(UploadError) -> AppendRequest {
        let fields = request.fields
        try request.requirePlainBody()
        let essence = fields["Content-Type"].map { MediaType(untrusted: $0).essence }
        if version.needsPartialType && essence != InteropCreation.partialType {
            throw .wrongMediaType
        }
        guard let first = fields.structuredInteger("Upload-Offset"), first >= 0 else {

            throw .invalid(
                "Upload-Offset must be the offset of the first byte of the body, 0 to 999999999999999; HEAD reports it."
            )

        }
        guard
            let isComplete = version.completeness(fields)
                ?? (version.needsCompleteness ? nil : true)
        else { throw .completeness(version) }
        var append = AppendRequest(
            rule: .exact, first: first, bodyLength: request.framing.bodyLength,
            end: isComplete ? .always : .never)
        append.total = try InteropRequest.total(append, version, fields)
        append.bodyDigests = try BodyDigest.list(fields, "Content-Digest")
        append.failsOnOverflow = version.failsOnOverflow
        append.awaitsContinue = fields.contains("Expect")
        return append
    }

    /// The length of the content, stated or implied by the request; both must match (§7.6).
    static func total(
        _ append: AppendRequest, _ version: InteropVersion, _ fields: Fields
    ) throws(UploadError) -> Int64? {
        let stated = version.knowsLengths ? fields.structuredInteger("Upload-Length") : nil
        let total = stated.flatMap { $0 < 0 ? nil : $0 }
        guard let bodyLength = append.bodyLength else { return total }
        let (stop, overflow) = append.first.addingReportingOverflow(bodyLength)
        // Above every limit; the engine reports the limit.
        if overflow { return .max }
        guard append.end == .always else { return total }
        guard total ?? stop == stop else {
            throw .lengthMismatch(
                "Upload-Length must equal Upload-Offset plus Content-Length in the request that completes the upload; correct one of them."
            )
        }
        return stop
    }
}

extension InteropVersion {
    /// The header that says whether a request is the last one.
    var completenessField: FieldName { saysIncomplete ? "Upload-Incomplete" : "Upload-Complete" }

    /// Whether a request is the last one; `nil` when it has no such header.
    func completeness(_ fields: Fields) -> Bool? {
        fields.structuredBoolean(completenessField).map { $0 != saysIncomplete }
    }
}

extension UploadError {
    /// The error for a request without a completeness header.
    static func completeness(_ version: InteropVersion) -> UploadError {
        let last = version.saysIncomplete ? "?0" : "?1"
        return .invalid(
            "\(version.completenessField) must be ?0 or ?1; send \(last) in the request with the last byte, and the other one before."
        )
    }
}

/// A creation in protocol C, at the creation endpoint or at an existing upload (§7.6).
struct InteropCreation: Sendable {
    /// The media type of an append; it does not describe the content.
    static let partialType = "application/partial-upload"

    let append: AppendRequest
    /// The file name of the content.
    let fileName: String?

    /// Parses the header of a request.
    init(_ request: Request, _ version: InteropVersion) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        guard let isComplete = version.completeness(fields) else {
            throw .completeness(version)
        }
        // A malformed value counts as absent.
        guard fields.structuredInteger("Upload-Offset") ?? 0 == 0 else {

            throw .invalid(
                "Upload-Offset must be 0 or absent when an upload is created; append with PATCH.")

        }
        var append = AppendRequest(
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
        fileName = fields["Content-Disposition"].flatMap(ContentDisposition.fileName)
    }
}
