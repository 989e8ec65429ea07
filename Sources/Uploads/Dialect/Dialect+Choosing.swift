internal import HTTP

extension Dialect {
    /// Reads the signals of a head in the order of §2; the first match wins.
    ///
    /// `OPTIONS` never comes here: it belongs to no dialect and is asked no version (§3.7).
    ///
    /// - Throws: ``Refusal``, before anything is known of the upload.
    init(_ request: Request, at place: UploadPlace) throws(Refusal) {
        let signals = Signals(request)
        if signals.speaksTus && signals.namesInterop {
            throw .error(.invalid("A request speaks one upload protocol, not two."))
        }
        if let version = signals.version {
            self = .interop(version)
        } else if signals.speaksTus {
            self = .tus(try Dialect.overridden(request))
        } else if signals.isPartialUpload || signals.saysComplete {
            self = .interop(.final)
        } else if signals.isOffsetStream {
            self = .tus(request.method)
        } else if place == .creation {
            self = try Dialect(creatingWith: request)
        } else {
            self = try Dialect(plain: request)
        }
    }

    /// Rule 6: `/uploads` without a protocol of its own.
    private init(creatingWith request: Request) throws(Refusal) {
        guard request.method == .post else { throw .method }
        let fields = request.fields
        if SessionCreation.isAsked(by: request) {
            self = .contentRange
        } else if fields.contains("Upload-Length") || fields.contains("Upload-Defer-Length")
            || fields.contains("Upload-Concat")
        {
            // Without its version: the dialect itself says which one it wants.
            self = .tus(.post)
        } else {
            throw .error(.invalid("The request names no upload protocol."))
        }
    }

    /// Rules 7 to 9: an upload without a protocol of its own.
    private init(plain request: Request) throws(Refusal) {
        switch request.method {
        case .put: self = .contentRange
        case .post where request.fields.contains("Content-Range"): self = .contentRange
        case .head, .get, .delete: self = .neutral
        default: throw .method
        }
    }

    /// Rule 3: browsers that cannot send `PATCH` say so in a `POST`.
    private static func overridden(_ request: Request) throws(Refusal) -> HTTP.Method {
        guard request.method == .post, let name = request.fields["X-HTTP-Method-Override"] else {
            return request.method
        }
        let overrides: [HTTP.Method] = [.patch, .delete, .head]
        guard let method = overrides.first(where: { $0.rawValue == name.trimmed.uppercased() })
        else { throw .method }
        return method
    }
}

/// What a head says about its protocol, apart from what that means.
private struct Signals {
    let speaksTus: Bool
    let namesInterop: Bool
    /// `nil` also for a value that is no integer, which counts as not said (rule 2).
    let version: InteropVersion?
    let isPartialUpload: Bool
    let isOffsetStream: Bool
    /// A completeness field that parses, on a method that may carry content.
    let saysComplete: Bool

    init(_ request: Request) {
        let fields = request.fields
        let method = request.method
        speaksTus = fields.contains("Tus-Resumable")
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
