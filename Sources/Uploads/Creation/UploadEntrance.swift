public import HTTP

/// Who may create uploads at the creation endpoint (§1.1); uploads know no tokens themselves.
public protocol UploadEntrance: Sendable {
    /// Asked once a request, before anything of its body is read.
    ///
    /// - Throws: ``UploadError/unauthenticated``, ``UploadError/forbidden``,
    ///   ``UploadError/rateLimited``, ``UploadError/busy``, ``UploadError/backend``.
    func admit(_ request: Request) async throws(UploadError) -> UploadAdmission
}

/// What a creation begins with.
public struct UploadAdmission: Sendable {
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
