public import Messaging

/// How to write objects: version, URLs, and the signer of downloads.
public struct Presentation: Sendable {
    /// The version of the response.
    public let version: APIVersion
    /// The URLs of the perspective.
    public let links: LinkBuilder
    /// Signs a download URL; called once for every content that is written.
    public let sign: @Sendable (Content.ID) -> ContentJSON.SignedLink
    /// The inlined contents, each as a JSON string in base64 (X8).
    public var inlined: [Content.ID: [UInt8]] = [:]
    /// Whether messages include their transfer state (X7).
    public var showsTransfer = false

    /// Creates a presentation without inlined contents.
    public init(
        version: APIVersion, links: LinkBuilder,
        sign: @escaping @Sendable (Content.ID) -> ContentJSON.SignedLink
    ) {
        self.version = version
        self.links = links
        self.sign = sign
    }
}
