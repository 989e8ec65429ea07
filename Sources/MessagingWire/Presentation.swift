public import Messaging

/// The form in which answers show objects: the version, the URLs, and the signer of download URLs.
public struct Presentation: Sendable {
    /// The version of the response.
    let version: APIVersion
    /// The URLs of the perspective.
    public let links: LinkBuilder
    /// Signs the download URL of a content id; called once for every content that is written.
    private let signer: Signer
    /// The inlined contents, each as a JSON string in base64 (X8).
    public var inlined: [Content.ID: [UInt8]] = [:]
    /// Whether messages include their transfer state (X7).
    public var showsTransfer = false
    /// Whether messages show the number of recipients in each status instead of each recipient.
    public var countsRecipients = false

    /// Returns a signed URL and its expiry in milliseconds since 1970.
    public typealias Signer =
        @Sendable (_ content: String) -> (url: String, expiresAtMilliseconds: Int64)

    /// Creates a presentation without inlined contents.
    public init(version: APIVersion, links: LinkBuilder, sign: @escaping Signer) {
        self.version = version
        self.links = links
        signer = sign
    }

    /// Signs the download URL of a content.
    public func sign(_ id: Content.ID) -> ContentJSON.SignedLink {
        let signed = signer(id.uuid)
        return ContentJSON.SignedLink(
            url: signed.url, expiresAt: Timestamp(milliseconds: signed.expiresAtMilliseconds))
    }
}
