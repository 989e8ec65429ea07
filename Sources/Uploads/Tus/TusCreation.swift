internal import Blobs
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
    let terms: TusHeaders
    /// The body, where it is upload data.
    let append: AppendRequest?

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
    ) throws(UploadError) -> AppendRequest {
        var append = AppendRequest(rule: .exact, first: 0, bodyLength: bodyLength, end: .atLength)
        try TusChecksum(request).add(to: &append)
        if let bodyLength, bodyLength > length ?? .max { throw .beyondLength }
        return append
    }
}

/// What was said when an upload was created in tus, and is said again by `HEAD` (§6.4).
struct TusHeaders: Sendable, Equatable {
    /// `Upload-Metadata` as it came; `nil` when there was none.
    var metadata: String?
    /// `Upload-Concat` as it came; `nil` for an upload that plays no part in a concatenation.
    var concat: String?

    /// Its bytes are for others to be made from.
    var isPartial: Bool { concat == "partial" }
    /// It was made from others, and takes no bytes.
    var isFinal: Bool { concat != nil && !isPartial }
}

extension Uploads {
    /// A request of dialect B to the creation endpoint (§6.3, §6.10).
    ///
    /// - Parameter method: The one that counts, once an override has replaced the one that was sent.
    func tusCreation(
        _ request: Request, _ method: HTTP.Method, by entrance: any UploadAuthorizer
    ) -> Answer {
        if let refusal = TusProtocol.refusal(of: request, engine.settings) {
            return refused(refusal, request)
        }
        let words = tusErrors
        guard method == .post else {
            return refused(
                words(
                    .methodNotAllowed(
                        allow: "POST, OPTIONS",
                        text:
                            "tus creates uploads with POST; send other methods to the URL in Location."
                    )), request)
        }
        let reading = Result { () throws(UploadError) in try TusCreation(request) }
        // A part is nobody's content, and is called nothing elsewhere.
        let isPart = (try? reading.get())?.terms.isPartial == true
        return creation(
            for: request, by: entrance, words: words, announces: !isPart
        ) { [self] admission, body in
            do throws(UploadError) {
                return try await create(reading.get(), for: request, admission, body)
            } catch {
                return words(error)
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
        // One that was whole as soon as it was created may have failed since.
        if record.state.isGone { throw record.failure == .refused ? .refused : .backend }
        return TusProtocol.created(record, at: base.of(request) + new.path)
    }

    /// Takes the body that came with the creation; `false` when the client went away.
    ///
    /// What fails leaves nothing: its client will never hear of the upload. One that went away leaves
    /// what arrived, for the sweeper.
    private func fill(
        _ upload: Upload, _ append: AppendRequest, _ body: any RequestBody
    ) async throws(UploadError) -> Bool {
        do throws(UploadError) {
            switch try await upload.append(append, from: body) {
            case .held, .complete: return true
            case .dropped: return false
            case .completeBefore, .misplaced:
                // Of no byte, the content was complete as soon as it was created.
                guard await body.isEmpty else { throw .beyondLength }
                return true
            }
        } catch {
            // What cannot be ended now is still being finished, and ends by its time.
            if (try? await upload.cancel()) != nil { await forget(upload.name) }
            throw error
        }
    }

    /// Reads a body that is no upload data, up to the little that is allowed (§6.3).
    private func passOver(_ body: any RequestBody) async throws(UploadError) {
        // Where the length is known, the head was judged by it.
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

    /// What this server is called by: in its own URLs, and by this client.
    private func authorities(_ request: Request) -> [String] {
        let own = base.of(request).split(separator: "/", maxSplits: 2).dropFirst().first.map(
            String.init)
        return [own, request.fields["Host"]].compactMap { $0 }
    }
}
