internal import HTTP

/// The protocol that one request uses, with its parameters (§2). It belongs to the request, not to the upload.
///
/// An upload that was created in one protocol may be continued in another: all share offset, length and state.
enum ProtocolSelection: Equatable, Sendable {
    /// A and D: a session with `Content-Range`, or one plain request.
    case contentRange
    /// B: tus, with the method after a method override.
    case tus(HTTP.Method)
    /// C: the IETF protocol, in one of its versions.
    case interop(InteropVersion)
    /// No protocol: the request reads the state of an upload or cancels it.
    case neutral
}

extension ProtocolSelection {
    /// Selects the protocol by the headers of a request in the order of §2; the first match wins.
    ///
    /// `OPTIONS` is answered before: it belongs to no protocol and needs no version (§3.7).
    ///
    /// - Throws: ``UploadError``, before the upload is looked up.
    init(_ request: Request, at path: UploadPath) throws(UploadError) {
        let signals = Signals(request)
        if signals.namesTus && signals.namesInterop {
            throw .invalid(
                "Tus-Resumable and Upload-Draft-Interop-Version exclude each other; send the headers of one protocol."
            )
        }
        if let version = signals.version {
            self = .interop(version)
        } else if signals.namesTus {
            self = .tus(try ProtocolSelection.overridden(request))
        } else if signals.isPartialUpload || signals.saysComplete {
            self = .interop(.final)
        } else if signals.isOffsetStream {
            self = .tus(request.method)
        } else if path == .creation {
            self = try ProtocolSelection(creatingWith: request)
        } else {
            self = try ProtocolSelection(plain: request)
        }
    }

    /// Rule 6: a request to `/uploads` without a protocol header.
    private init(creatingWith request: Request) throws(UploadError) {
        guard request.method == .post else { throw .creationMethod }
        let fields = request.fields
        if SessionCreation.isRequested(by: request) {
            self = .contentRange
        } else if fields.contains("Upload-Length") || fields.contains("Upload-Defer-Length")
            || fields.contains("Upload-Concat")
        {
            // The version header is missing; the tus handler answers which version it needs.
            self = .tus(.post)
        } else {
            throw .invalid(
                "The request names no upload protocol; send Tus-Resumable, Upload-Complete, X-Goog-Resumable: start or ?uploadType=resumable."
            )
        }
    }

    /// Rules 7 to 9: a request to an upload without a protocol header. A `POST` is a `PUT` of the whole content,
    /// or, with `Content-Range`, of a part of it (ruling 22).
    private init(plain request: Request) throws(UploadError) {
        switch request.method {
        case .put: self = .contentRange
        case .post where request.fields.contains("Content-Range"): self = .contentRange
        case .post:
            // A chunk or a description must not become the content only because a header is missing.
            if let name = ProtocolSelection.protocolHeader(of: request) {
                throw .methodNotAllowed(
                    allow: Uploads.methods,
                    text:
                        "POST with \(name) is not the whole content; add the version header of the protocol (Tus-Resumable, Upload-Draft-Interop-Version or Upload-Complete), or leave \(name) out."
                )
            }
            if SessionCreation.isRequested(by: request) {
                throw .methodNotAllowed(
                    allow: Uploads.methods,
                    text:
                        "X-Goog-Resumable, uploadType and X-Upload-Content-* with POST create an upload at /uploads; send the bytes to this URL without them."
                )
            }
            self = .contentRange
        case .head, .get, .delete: self = .neutral
        // `OPTIONS` is answered before.
        case .patch, .options:
            throw .methodNotAllowed(
                allow: Uploads.plainMethods,
                text:
                    "PATCH needs an upload protocol; send Tus-Resumable, or Upload-Complete with Content-Type: application/partial-upload, or use PUT."
            )
        }
    }

    /// A header that only tus or the IETF protocol defines, in a request that names neither.
    private static func protocolHeader(of request: Request) -> FieldName? {
        let fields = request.fields
        let names: [FieldName] = [
            "X-HTTP-Method-Override", "Upload-Offset", "Upload-Length", "Upload-Defer-Length",
            "Upload-Concat", "Upload-Metadata", "Upload-Checksum", "Upload-Complete",
            "Upload-Incomplete", "Upload-Draft-Interop-Version",
        ]
        if let name = names.first(where: { fields.contains($0) }) { return name }
        let essence = fields["Content-Type"].map { MediaType(untrusted: $0).essence }
        let types = [TusProtocol.mediaType, InteropCreation.partialType]
        return essence.map(types.contains) == true ? "Content-Type" : nil
    }

    /// Rule 3: browsers that cannot send `PATCH` send a `POST` with an override header.
    private static func overridden(_ request: Request) throws(UploadError) -> HTTP.Method {
        guard request.method == .post, let name = request.fields["X-HTTP-Method-Override"] else {
            return request.method
        }
        let overrides: [HTTP.Method] = [.patch, .delete, .head]
        guard let method = overrides.first(where: { $0.rawValue == name.trimmed.uppercased() })
        else {
            throw .methodNotAllowed(
                allow: Uploads.methods,
                text: "X-HTTP-Method-Override must be PATCH, DELETE or HEAD.")
        }
        return method
    }
}

extension UploadError {
    /// The error for a method that the creation endpoint does not support.
    static let creationMethod = UploadError.methodNotAllowed(
        allow: Uploads.creationMethods,
        text:
            "Uploads are created with POST, or with PUT and Upload-Complete; send other methods to the URL in Location."
    )
}

/// The headers of a request that determine its protocol.
private struct Signals {
    let namesTus: Bool
    let namesInterop: Bool
    /// `nil` also for a value that is no integer, which counts as absent (rule 2).
    let version: InteropVersion?
    let isPartialUpload: Bool
    let isOffsetStream: Bool
    /// Whether a completeness header parses, on a method that may carry content.
    let saysComplete: Bool

    init(_ request: Request) {
        let fields = request.fields
        let method = request.method
        namesTus = fields.contains("Tus-Resumable")
        namesInterop = fields.contains("Upload-Draft-Interop-Version")
        version = fields.structuredInteger("Upload-Draft-Interop-Version")
            .map(InteropVersion.init(number:))
        let type = method == .patch ? fields["Content-Type"] : nil
        let essence = type.map { MediaType(untrusted: $0).essence }
        isPartialUpload = essence == "application/partial-upload"
        isOffsetStream = essence == "application/offset+octet-stream"
        saysComplete =
            [.post, .put, .patch].contains(method)
            && fields.structuredBoolean("Upload-Complete") != nil
    }
}

extension Request {
    /// Refuses a content coding: bytes are stored as they are received (§3.1).
    func requirePlainBody() throws(UploadError) {
        let coding = Result { () throws(ContentCoding.Unsupported) in
            try ContentCoding.of(self)
        }
        guard case .success(nil) = coding else { throw .codedBody }
    }
}

extension BodyFraming {
    /// The size of the body in bytes; `nil` when chunked.
    var bodyLength: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}
