internal import Blobs
public import HTTP
internal import SystemSupport

/// Who may create uploads at the creation endpoint (§1.1); uploads know no tokens themselves.
public protocol UploadAuthorizer: Sendable {
    /// Asked once a request, before anything of its body is read.
    ///
    /// - Throws: ``UploadError/unauthenticated``, ``UploadError/forbidden``,
    ///   ``UploadError/rateLimited``, ``UploadError/busy``, ``UploadError/backend``.
    func authorize(_ request: Request) async throws(UploadError) -> UploadAuthorization
}

/// What a creation begins with.
public struct UploadAuthorization: Sendable {
    /// For whom the upload is.
    public let owner: UploadOwner
    /// The content that will result: a UUID in lower case.
    public let contentID: String
    /// What a successful answer tells besides, such as how the content is called elsewhere.
    public let fields: [(name: FieldName, value: String)]
    /// On whose account the request is made, for logs.
    public let requestOwner: RequestOwner?

    /// Lets somebody in.
    public init(
        owner: UploadOwner, contentID: String, fields: [(name: FieldName, value: String)] = [],
        requestOwner: RequestOwner? = nil
    ) {
        self.owner = owner
        self.contentID = contentID
        self.fields = fields
        self.requestOwner = requestOwner
    }
}

extension Uploads {
    /// Creates an upload at the creation endpoint, whatever the dialect: asks who it is, then lets
    /// the dialect do the rest.
    ///
    /// - Parameters:
    ///   - words: How the dialect says what went wrong.
    ///   - announces: Whether a success also tells what the admission has to say.
    ///   - act: Creates; it alone reads the body.
    func creation(
        for request: Request, by entrance: any UploadAuthorizer,
        words: @escaping @Sendable (UploadError) -> Response, announces: Bool = true,
        _ act: @escaping @Sendable (UploadAuthorization, any RequestBody) async -> Response
    ) -> Answer {
        Answer(Uploads.creationRoute, policy) { [self] body in
            if isStopping.withLock({ $0 }) { return finish(words(.stalled), anyOrigin, request) }
            let admission: UploadAuthorization
            do throws(UploadError) {
                admission = try await entrance.authorize(request)
            } catch {
                return finish(words(error), anyOrigin, request)
            }
            var response = await act(admission, body)
            if announces, (200..<300).contains(response.status.code) {
                for field in admission.fields { response.fields.add(field.name, field.value) }
            }
            response.owner = admission.requestOwner
            return finish(response, anyOrigin, request)
        }
    }

    /// What a creation's head says of its pages (§1.2).
    static func origin(_ request: Request) -> String? {
        request.fields["Upload-Origin"] ?? request.fields["Origin"]
    }
}
