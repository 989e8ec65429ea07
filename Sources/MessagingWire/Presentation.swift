public import Messaging

/// How objects are shown: the version, the URLs of a perspective, and who signs downloads.
public struct Presentation: Sendable {
    /// The version whose shapes are written.
    public let version: APIVersion
    /// The URLs of the perspective.
    public let links: LinkBuilder
    /// Signs a download URL; called once for every content shown.
    public let sign: @Sendable (Content.ID) -> ContentJSON.SignedLink
    /// The contents that stand in the answer itself, each as a JSON string in base64 (X8).
    public var inlined: [Content.ID: [UInt8]] = [:]
    /// Whether a message says how far its parts have come (X7).
    public var showsTransfer = false

    /// A way to show objects.
    public init(
        version: APIVersion, links: LinkBuilder,
        sign: @escaping @Sendable (Content.ID) -> ContentJSON.SignedLink
    ) {
        self.version = version
        self.links = links
        self.sign = sign
    }
}
