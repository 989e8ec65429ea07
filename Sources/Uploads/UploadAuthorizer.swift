internal import Blobs
public import HTTP
internal import SystemSupport

/// Decides which requests may create uploads at the creation endpoint (§1.1); this module does not know tokens.
public protocol UploadAuthorizer: Sendable {
    /// Called once per request, before its body is read.
    ///
    /// - Throws: ``UploadError/unauthenticated``, ``UploadError/forbidden``, ``UploadError/rateLimited``,
    ///   ``UploadError/busy``, ``UploadError/backend``.
    func authorize(_ request: Request) async throws(UploadError) -> UploadAuthorization
}

/// The permission to create one upload.
public struct UploadAuthorization: Sendable {
    /// The owner of the upload.
    public let owner: UploadOwner
    /// The id of the resulting content: a UUID in lower case.
    public let contentID: String
    /// Headers that a successful response carries, such as the id of the content in the messaging API.
    public let fields: [(name: FieldName, value: String)]
    /// The account under which the request is logged.
    public let requestOwner: RequestOwner?

    /// Authorizes an upload; `fields` are added to the response.
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
    /// Answers a request to the creation endpoint in any protocol: authorizes it, then lets the protocol create the
    /// upload.
    ///
    /// - Parameters:
    ///   - errorResponse: Makes the protocol's error response.
    ///   - announces: Whether a success carries the headers of the authorization.
    ///   - act: Creates the upload; only this reads the body.
    func creation(
        for request: Request, by authorizer: any UploadAuthorizer,
        errorResponse: @escaping @Sendable (UploadError) -> Response, announces: Bool = true,
        _ act: @escaping @Sendable (UploadAuthorization, any RequestBody) async -> Response
    ) -> Answer {
        Answer(Uploads.creationRoute, policy) { [self] body in
            if isStopping.withLock({ $0 }) {
                return finish(errorResponse(.stalled), anyOrigin, request)
            }
            let admission: UploadAuthorization
            do throws(UploadError) {
                admission = try await authorizer.authorize(request)
            } catch {
                return finish(errorResponse(error), anyOrigin, request)
            }
            var response = await act(admission, body)
            if announces, (200..<300).contains(response.status.code) {
                for field in admission.fields { response.fields.add(field.name, field.value) }
            }
            response.owner = admission.requestOwner
            return finish(response, anyOrigin, request)
        }
    }

    /// The origin that the creating request names (§1.2).
    static func origin(_ request: Request) -> String? {
        request.fields["Upload-Origin"] ?? request.fields["Origin"]
    }
}
