internal import HTTP

/// What a request of dialect C asks for, read from its head (§7.6–7.9).
struct InteropRequest: Sendable {
    /// The things it can be.
    enum Action: Sendable {
        /// Bytes from the first one on, of a new upload or of one that is known.
        case create(InteropCreation)
        /// More bytes.
        case append(Append)
        /// How many are held.
        case status
        /// The end of it.
        case cancel
    }

    let action: Action

    /// Reads the head.
    ///
    /// - Throws: ``UploadError``; nothing is consumed and nothing created then.
    init(_ request: Request, _ version: InteropVersion) throws(UploadError) {
        switch request.method {
        // OPTIONS never comes here (§3.7).
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

    /// Table 7.1: drafts up to 6 refuse fields that state what is being asked.
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
    ) throws(UploadError) -> Append {
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
        var append = Append(
            rule: .exact, first: first, bodyLength: request.framing.bodyLength,
            end: isComplete ? .always : .never)
        append.total = try InteropRequest.total(append, version, fields)
        append.bodyDigests = try BodyDigest.list(fields, "Content-Digest")
        append.failsOnOverflow = version.failsOnOverflow
        append.awaitsContinue = fields.contains("Expect")
        return append
    }

    /// The length of the content, where the request states or implies it; both must agree (§7.6).
    static func total(
        _ append: Append, _ version: InteropVersion, _ fields: Fields
    ) throws(UploadError) -> Int64? {
        let stated = version.knowsLengths ? fields.structuredInteger("Upload-Length") : nil
        let total = stated.flatMap { $0 < 0 ? nil : $0 }
        guard let bodyLength = append.bodyLength else { return total }
        let (stop, overflow) = append.first.addingReportingOverflow(bodyLength)
        // Above every limit, which whoever knows it says.
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
    /// The field that says whether a request brings the end.
    var completenessField: FieldName { saysIncomplete ? "Upload-Incomplete" : "Upload-Complete" }

    /// Whether a request brings the end; `nil` when it does not say so.
    func completeness(_ fields: Fields) -> Bool? {
        fields.structuredBoolean(completenessField).map { $0 != saysIncomplete }
    }
}

extension UploadError {
    /// A request that does not say whether it brings the end.
    static func completeness(_ version: InteropVersion) -> UploadError {
        let last = version.saysIncomplete ? "?0" : "?1"
        return .invalid(
            "\(version.completenessField) must be ?0 or ?1; send \(last) in the request that brings the last byte, and the other one before."
        )
    }
}
