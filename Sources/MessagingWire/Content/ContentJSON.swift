import Bytes
public import JSON
public import Messaging

/// Rich content as a part or an answer shows it (platform-api §3.5).
public struct ContentJSON: Sendable {
    /// A download URL that needs no credential until it expires.
    public struct SignedLink: Equatable, Sendable {
        /// The absolute URL.
        let url: String
        /// When it expires: from then on requests are refused.
        let expiresAt: Timestamp

        /// A signed link.
        public init(url: String, expiresAt: Timestamp) {
            self.url = url
            self.expiresAt = expiresAt
        }
    }

    private let id: Content.ID
    /// The size in bytes.
    private let size: Int64
    /// The conversation in the `refresh_url`; `nil` while it belongs to none.
    private let conversation: Conversation.ID?

    /// A content to show.
    public init(id: Content.ID, size: Int64, in conversation: Conversation.ID?) {
        self.id = id
        self.size = size
        self.conversation = conversation
    }

    /// Writes content that can be downloaded; the link is signed for every response.
    ///
    /// - Parameter transfer: The transfer state, if requested.
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

    /// Writes content that is not complete, with its transfer state (X7).
    ///
    /// - Parameter size: The size in bytes, once it is known.
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

    /// Reads the content that a part attaches: `id`, and `size`, which the stored size replaces.
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

extension ContentJSON {
    /// The schema of content that can be downloaded.
    static let schema = JSONSchema.named(
        "Content",
        .object(
            [
                .required("id", .identifier(.content)),
                .required("size", .integer(0 ... .max)),
                .required("download_url", .url),
                .required("refresh_url", .url),
                .required("expiration", .time),
            ] + TransferJSON.members))

    /// The schema of content in every state, as a request with `include=transfer` receives it (X7).
    public static let anySchema = JSONSchema.anyOf([
        schema,
        .named(
            "AwaitedContent",
            .object(
                [
                    .required("id", .identifier(.content)),
                    .required("size", JSONSchema.integer(0 ... .max).orNull),
                    .required("download_url", .null),
                    .required("refresh_url", .null),
                    .required("expiration", .null),
                ] + TransferJSON.members)),
    ])

    /// The schema of content that waits for its bytes.
    public static let announcedSchema = JSONSchema.named(
        "AnnouncedContent",
        .object([
            .required("id", .identifier(.content)),
            .required("size", .integer(0 ... .max)),
            .required("upload_url", .url),
            .required("download_url", .null),
            .required("refresh_url", .null),
            .required("expiration", .null),
        ]))
}

/// The transfer state of a content, which `include=transfer` adds (X7).
public struct TransferJSON: Sendable {
    private let status: TransferStatus
    /// Bytes that are stored durably.
    private let received: Int64
    /// SHA-256 of the whole content, 32 bytes; `nil` until it is complete.
    private let sha256: [UInt8]?

    /// A state to show.
    public init(_ status: TransferStatus, received: Int64, sha256: [UInt8]? = nil) {
        self.status = status
        self.received = received
        self.sha256 = sha256
    }

    func write(into writer: inout JSONWriter) {
        writer.member("transfer_status", status.rawValue)
        writer.member("bytes_received", received)
        writer.key("checksum")
        guard let sha256 else {
            writer.null()
            return
        }
        writer.object { writer in writer.member("sha-256", Base64.encode(sha256)) }
    }

    fileprivate static let members: [JSONSchema.Member] = [
        .optional("transfer_status", .choice(TransferStatus.allCases.map(\.rawValue))),
        .optional("bytes_received", .integer(0 ... .max)),
        .optional(
            "checksum",
            JSONSchema.object([
                .required("sha-256", JSONSchema.string.withDescription("In base64."))
            ])
            .orNull),
    ]
}

/// The transfer state of a message, which `include=transfer` adds (X7).
enum MessageTransferJSON {
    static func write(_ transfer: Message.Transfer, into writer: inout JSONWriter) {
        writer.key("transfer")
        writer.object { writer in
            writer.member("bytes", transfer.bytes)
            writer.member("bytes_received", transfer.received)
            writer.key("fraction")
            writer.double(transfer.fraction)
        }
    }

    static let schema = JSONSchema.object([
        .required("bytes", .integer(0 ... .max)),
        .required("bytes_received", .integer(0 ... .max)),
        .required("fraction", .number(0...1)),
    ])
}
