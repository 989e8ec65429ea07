/// For whom an upload was created: opaque texts, kept in the record and handed back at the end.
public struct UploadOwner: Hashable, Sendable {
    /// The application.
    public let application: String
    /// The conversation, for content that was created in one.
    public let conversation: String?
    /// The user, for content that was created on behalf of one.
    public let user: String?

    /// Names an owner.
    public init(application: String, conversation: String? = nil, user: String? = nil) {
        self.application = application
        self.conversation = conversation
        self.user = user
    }
}

/// What is known of an upload before its first byte.
public struct UploadDraft: Sendable {
    /// For whom.
    public let owner: UploadOwner
    /// The content that will result: a UUID in lower case.
    public let contentID: String
    /// Declared media type; `nil` takes it from the first data request.
    public let mediaType: String?
    /// Declared length in bytes; `nil` while unknown.
    public let length: Int64?
    /// Name for downloads, as the client said it.
    public let fileName: String?
    /// The one origin whose pages may use the URLs (`Upload-Origin`).
    public let origin: String?
    /// What tus clients say of themselves and have said to them again.
    var tus = TusTerms()
    /// Digests of the whole content, as the client states them.
    var declared = DeclaredDigests()

    /// Describes an upload.
    public init(
        owner: UploadOwner, contentID: String, mediaType: String?, length: Int64?,
        fileName: String? = nil, origin: String? = nil
    ) {
        self.owner = owner
        self.contentID = contentID
        self.mediaType = mediaType
        self.length = length
        self.fileName = fileName
        self.origin = origin
    }
}
