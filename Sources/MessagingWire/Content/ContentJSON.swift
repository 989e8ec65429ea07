public import JSON
public import Messaging

/// Rich content as a part or an answer shows it (platform-api §3.5).
public struct ContentJSON: Sendable {
    /// A download URL that needs no credential, and when it ends.
    public struct SignedLink: Equatable, Sendable {
        /// Absolute.
        public let url: String
        /// From when on it is refused.
        public let expiresAt: Timestamp

        /// A signed link.
        public init(url: String, expiresAt: Timestamp) {
            self.url = url
            self.expiresAt = expiresAt
        }
    }

    /// Its name.
    public let id: Content.ID
    /// In bytes.
    public let size: Int64
    /// The conversation its `refresh_url` leads through; `nil` while it belongs to none.
    public let conversation: Conversation.ID?

    /// A content to show.
    public init(id: Content.ID, size: Int64, in conversation: Conversation.ID?) {
        self.id = id
        self.size = size
        self.conversation = conversation
    }

    /// Writes content that can be downloaded; the link is signed freshly for every read.
    ///
    /// - Parameter transfer: How far it has come, for whoever asked.
    public func write(
        _ links: LinkBuilder, _ link: SignedLink, _ transfer: TransferJSON? = nil,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .content))
            writer.member("size", size)
            writer.member("download_url", link.url)
            writer.member("refresh_url", links.content(id, in: conversation))
            writer.member("expiration", TimestampJSON.text(link.expiresAt))
            transfer?.write(into: &writer)
        }
    }

    /// Writes content that is not there yet, or never will be, for who asks how far it has come (X7).
    ///
    /// - Parameter size: Its bytes, once that is known.
    public static func write(
        _ id: Content.ID, size: Int64?, _ transfer: TransferJSON, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .content))
            writer.key("size")
            if let size { writer.integer(size) } else { writer.null() }
            writer.member("download_url", nil)
            writer.member("refresh_url", nil)
            writer.member("expiration", nil)
            transfer.write(into: &writer)
        }
    }

    /// Writes content that waits for its bytes: the answer to its creation.
    public func write(uploadURL: String, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .content))
            writer.member("size", size)
            writer.member("upload_url", uploadURL)
            writer.member("download_url", nil)
            writer.member("refresh_url", nil)
            writer.member("expiration", nil)
        }
    }

    /// Reads what a part attaches: `id`, and `size`, which the stored one overrules.
    static func read(_ value: JSONValue) throws(Rejection) -> MessagePart.Body {
        guard let text = value.present("id")?.string,
            let id: Content.ID = IdentifierJSON.read(text, in: .content)
        else { throw .invalid("parts.content", .partContent) }
        guard let size = value.present("size") else { return .content(id, size: 0) }
        guard let bytes = size.integer, bytes >= 0 else {
            throw .invalid("parts.content", .partContentSize)
        }
        return .content(id, size: bytes)
    }
}
