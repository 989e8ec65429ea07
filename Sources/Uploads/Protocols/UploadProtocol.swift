internal import HTTP

/// The words by which uploads are counted (§11.11): the protocol a request speaks, or the one an upload
/// was created in.
public enum UploadProtocol: String, Sendable, CaseIterable {
    /// No request's: the upload was announced through an API.
    case api
    /// A: a session with `Content-Range`.
    case gcs
    /// B: tus.
    case tus
    /// C: the IETF protocol, in any of its versions.
    case ietf
    /// D: one plain request.
    case plain
    /// None: somebody looks at an upload, ends it, or asks what can be done.
    case neutral

    /// That of the request which is being answered, for whoever counts something on its behalf; set in
    /// one place, for all dialects (``Uploads/answer(to:by:)``).
    @TaskLocal static var current = UploadProtocol.neutral

    init(_ dialect: ProtocolSelection, of request: Request) {
        switch dialect {
        case .contentRange:
            // A creation asks for a session; at an upload only `PUT` may carry the same fields.
            let isWhole = !request.fields.contains("Content-Range")
            let asksForSession = request.method != .put && SessionCreation.isAsked(by: request)
            self = isWhole && !asksForSession ? .plain : .gcs
        case .tus: self = .tus
        case .interop: self = .ietf
        case .neutral: self = .neutral
        }
    }

    init(_ creation: CreationDialect) {
        switch creation {
        case .api: self = .api
        case .gcs: self = .gcs
        case .tus: self = .tus
        case .ietf: self = .ietf
        }
    }
}
