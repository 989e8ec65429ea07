internal import HTTP
internal import JSON

/// A request to create a session in protocol A (§5.1).
struct SessionCreation: Sendable {
    /// The maximum size of the JSON body, in bytes.
    fileprivate static let limit = 64 << 10

    /// 200 where one client library accepts nothing else, 201 for `X-Goog-Resumable: start`.
    fileprivate let status: Status
    fileprivate var mediaType: String?
    fileprivate var length: Int64?
    fileprivate var fileName: String?
    fileprivate var declared: DeclaredDigests
    /// The Content-Type of the request; describes the content only when the request has no JSON body.
    private let ownType: String?

    /// Whether a request creates a session, by its query or by a header that only protocol A has.
    static func isRequested(by request: Request) -> Bool {
        isRequestedByQuery(request) || isRequestedByStart(request)
            || request.fields.contains("X-Upload-Content-Type")
            || request.fields.contains("X-Upload-Content-Length")
    }

    /// Parses the header of a request.
    ///
    /// - Throws: ``UploadError/invalid(_:)``, ``UploadError/codedBody``.
    init(_ request: Request) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        let isStart = SessionCreation.isRequestedByStart(request)
        status = isStart && !SessionCreation.isRequestedByQuery(request) ? .created : .ok
        mediaType = try fields.single("X-Upload-Content-Type")
        length = try fields.single("X-Upload-Content-Length")
            .map { text throws(UploadError) in
                try SessionCreation.length(text, "X-Upload-Content-Length")
            }
        declared = try DeclaredDigests(lines: fields.values("X-Goog-Hash"))
        ownType = isStart ? fields["Content-Type"] : nil
    }

    /// Adds what the JSON body states; an empty body adds nothing.
    mutating func take(json bytes: [UInt8]) throws(UploadError) {
        if bytes.isEmpty {
            mediaType = mediaType ?? ownType
            return
        }
        guard let value = try? JSONDocument(bytes).root, value.kind == .object else {
            throw .invalid(
                "The body of a creation must be empty or a JSON object; send the content to the URL in Location."
            )
        }
        fileName = try SessionCreation.text("name", of: value)
        let type = try SessionCreation.text("contentType", of: value)
        mediaType = mediaType ?? type ?? ownType
        if let size = try SessionCreation.size(of: value) {
            guard length ?? size == size else {
                throw .lengthMismatch(
                    "size and X-Upload-Content-Length differ; state the same length, or one of them."
                )
            }
            length = size
        }
        var others: [String] = []
        if let md5 = try SessionCreation.text("md5Hash", of: value) { others.append("md5=\(md5)") }
        if let sum = try SessionCreation.text("crc32c", of: value) {
            others.append("crc32c=\(sum)")
        }
        declared = try declared.merging(DeclaredDigests(lines: others))
    }

    private static func isRequestedByQuery(_ request: Request) -> Bool {
        // A malformed query selects nothing.
        let parameters = (try? request.target.parameters()) ?? []
        return parameters.contains { $0.name == "uploadType" && $0.value == "resumable" }
    }

    private static func isRequestedByStart(_ request: Request) -> Bool {
        request.fields["X-Goog-Resumable"]?.trimmed.lowercased() == "start"
    }

    private static func text(
        _ name: String, of value: JSONValue
    ) throws(UploadError) -> String? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let text = member.string else {
            throw .invalid("\(name) must be a JSON string, or left out.")
        }
        return text
    }

    /// A string of digits, as these clients write 64-bit numbers, or a number.
    private static func size(of value: JSONValue) throws(UploadError) -> Int64? {
        guard let member = value["size"], !member.isNull else { return nil }
        return try length(member.string ?? String(decoding: member.raw, as: UTF8.self), "size")
    }

    private static func length(_ text: String, _ name: String) throws(UploadError) -> Int64 {
        guard let length = Int64(decimal: text.trimmed.utf8) else {
            throw .notDecimal(name)
        }
        return length
    }
}

extension Uploads {
    /// Answers a request of protocol A to the creation endpoint (§5.1).
    func createSession(_ request: Request, by authorizer: any UploadAuthorizer) -> Answer {
        creation(for: request, by: authorizer, errorResponse: jsonErrors(request)) {
            [self] admission, body in
            do throws(UploadError) {
                return try await session(request, admission, body)
            } catch {
                return error.response(to: request, engine.settings)
            }
        }
    }

    private func session(
        _ request: Request, _ admission: UploadAuthorization, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        var creation = try SessionCreation(request)
        guard let bytes = try await Uploads.description(body) else { return .dropped }
        try creation.take(json: bytes)
        var draft = UploadDraft(
            owner: admission.owner, contentID: admission.contentID, mediaType: creation.mediaType,
            length: creation.length, fileName: creation.fileName, origin: Uploads.origin(request))
        draft.declared = creation.declared
        let upload = try await create(draft, as: .gcs)
        var response = Response(creation.status)
        response.fields.add("Location", base.of(request) + upload.path)
        return response
    }

    /// The JSON body of a creation, at most 64 KiB; `nil` when the client has disconnected.
    private static func description(
        _ body: any RequestBody
    ) async throws(UploadError) -> [UInt8]? {
        let tooLong = UploadError.invalid(
            "The JSON body of a creation must be at most \(SessionCreation.limit) bytes; shorten its metadata."
        )
        if let length = body.length, length > SessionCreation.limit { throw tooLong }
        var bytes: [UInt8] = []
        var buffer = BodyBuffer(capacity: 4096)
        while true {
            switch await body.fill(&buffer) {
            case nil: bytes.append(contentsOf: buffer.bytes)
            case .clean?, .over?: return bytes
            case .broken(.stalled)?: throw .stalled
            case .broken(.refused(let refusal))?: throw .invalid(refusal.reason)
            case .broken?: return nil
            }
            if bytes.count > SessionCreation.limit { throw tooLong }
        }
    }
}
