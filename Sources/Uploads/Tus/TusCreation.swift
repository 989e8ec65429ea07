internal import Blobs
internal import HTTP

/// A creation in tus, parsed from its header (§6.3, §6.10).
struct TusCreation: Sendable {
    /// The source of the bytes.
    enum Source: Sendable {
        /// The client will send them.
        case bytes
        /// Existing partial uploads, by these references.
        case uploads([String])
    }

    /// The maximum size of a body that is not upload data, in bytes; it is discarded.
    fileprivate static let discarded = 64 << 10

    fileprivate let source: Source
    /// The length; `nil` while unknown.
    fileprivate let length: Int64?
    fileprivate let metadata: UploadMetadata
    /// The header values that `HEAD` returns.
    fileprivate let terms: TusHeaders
    /// The body, when it is upload data.
    fileprivate let append: AppendRequest?

    /// Parses the header in the order of §3.2: media type, syntax, lengths.
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
        metadata = try UploadMetadata(fields.bytes("Upload-Metadata") ?? [])
        terms = TusHeaders(metadata: metadata.raw, concat: concat)
        if case .final(let references) = role {
            if isData && bodyLength != 0 { throw .concatenated }
            source = .uploads(references)
            append = nil
            return
        }
        source = .bytes
        append = isData ? try TusCreation.append(request, bodyLength, length) : nil
    }

    /// Requires exactly one way to state the length; a concatenation has its length from its parts.
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
    ) throws(UploadError) -> AppendRequest {
        var append = AppendRequest(rule: .exact, first: 0, bodyLength: bodyLength, end: .atLength)
        try TusChecksum(request).add(to: &append)
        if let bodyLength, bodyLength > length ?? .max { throw .beyondLength }
        return append
    }
}

/// The tus header values of a creation that `HEAD` returns (§6.4).
struct TusHeaders: Sendable, Equatable {
    /// `Upload-Metadata` as received; `nil` when there was none.
    var metadata: String?
    /// `Upload-Concat` as received; `nil` when the upload is no part of a concatenation.
    var concat: String?

    /// Whether this is a partial upload, whose bytes a concatenation uses.
    var isPartial: Bool { concat == "partial" }
    /// Whether the upload was made by a concatenation and accepts no bytes.
    var isFinal: Bool { concat != nil && !isPartial }
}

extension Uploads {
    /// Answers a creation in tus (§6.3, §6.10).
    ///
    /// - Parameter method: The method after a method override.
    func tusCreation(
        _ request: Request, _ method: HTTP.Method, by authorizer: any UploadAuthorizer
    ) -> Answer {
        if let refusal = TusProtocol.refusal(of: request, engine.settings) {
            return refused(refusal, request)
        }
        let errorResponse = tusErrors
        guard method == .post else {
            return refused(
                errorResponse(
                    .methodNotAllowed(
                        allow: "POST, OPTIONS",
                        text:
                            "tus creates uploads with POST; send other methods to the URL in Location."
                    )), request)
        }
        let reading = Result { () throws(UploadError) in try TusCreation(request) }
        // A partial upload never becomes content, so it has no id in the messaging API.
        let isPart = (try? reading.get())?.terms.isPartial == true
        return creation(
            for: request, by: authorizer, errorResponse: errorResponse, announces: !isPart
        ) { [self] admission, body in
            do throws(UploadError) {
                return try await create(reading.get(), for: request, admission, body)
            } catch {
                return errorResponse(error)
            }
        }
    }

    private func create(
        _ creation: TusCreation, for request: Request, _ admission: UploadAuthorization,
        _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        var draft = UploadDraft(
            owner: admission.owner, contentID: admission.contentID,
            mediaType: creation.metadata.mediaType, length: creation.length,
            fileName: creation.metadata.fileName, origin: Uploads.origin(request))
        draft.tus = creation.terms
        if creation.append == nil { try await passOver(body) }
        let new: CreatedUpload
        switch creation.source {
        case .bytes: new = try await create(draft, as: .tus)
        case .uploads(let references):
            let tokens = try references.map { reference throws(UploadError) in
                try UploadReference.token(
                    reference, from: request.target.path, authorities: authorities(request))
            }
            new = try await concatenate(tokens, draft, stated: creation.length)
        }
        guard let upload = try await checkOut(new.name) else { throw .backend }
        defer { checkIn(new.name) }
        if let append = creation.append {
            guard try await fill(upload, append, body) else { return .dropped }
        }
        let record = await upload.record
        // An upload that was complete at its creation may have failed since.
        if record.state.isGone { throw record.failure == .refused ? .refused : .backend }
        return TusProtocol.created(record, at: base.of(request) + new.path)
    }

    /// Appends the body of the creation request; `false` when the client disconnected.
    ///
    /// After an error nothing remains, because the client never learns the URL. After a disconnection the received
    /// bytes stay until the sweeper removes them.
    private func fill(
        _ upload: Upload, _ append: AppendRequest, _ body: any RequestBody
    ) async throws(UploadError) -> Bool {
        do throws(UploadError) {
            switch try await upload.append(append, from: body) {
            case .held, .complete: return true
            case .dropped: return false
            case .completeBefore, .misplaced:
                // Content without bytes was complete as soon as it was created.
                guard await body.isEmpty else { throw .beyondLength }
                return true
            }
        } catch {
            // An upload that cannot be cancelled now is still being finished and expires later.
            if (try? await upload.cancel()) != nil { await forget(upload.name) }
            throw error
        }
    }

    /// Reads and discards a body that is not upload data, up to the allowed size (§6.3).
    private func passOver(_ body: any RequestBody) async throws(UploadError) {
        // A body of known length was checked by its header.
        guard body.length == nil else { return }
        var buffer = BodyBuffer(capacity: 4096)
        var count = 0
        while count <= TusCreation.discarded {
            switch await body.fill(&buffer) {
            case nil: count += buffer.count
            case .clean, .over: return
            case .broken(.refused(let refusal)): throw .invalid(refusal.reason)
            case .broken: throw .stalled
            }
        }
        throw .wrongMediaType
    }

    /// The authorities of this server: of its public base and of this request.
    private func authorities(_ request: Request) -> [String] {
        let own = base.of(request).split(separator: "/", maxSplits: 2).dropFirst().first.map(
            String.init)
        return [own, request.fields["Host"]].compactMap { $0 }
    }
}
