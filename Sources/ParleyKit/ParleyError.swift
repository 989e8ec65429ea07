internal import JSON

/// An error of ``ParleyClient``.
public struct ParleyError: Error, Hashable, Sendable {
    /// What callers distinguish.
    public enum Code: String, CaseIterable, Hashable, Sendable {
        /// There is no session and none can be made without ``ParleyClient/authenticate()``.
        case notAuthenticated
        /// The identity token names another user than the store.
        case wrongUser
        /// The server refused the identity token, or the closure that provides it has thrown.
        case authenticationFailed
        /// The user or the application is suspended.
        case suspended
        /// The server cannot be reached.
        case network
        /// The server did not answer in time.
        case timedOut
        /// The TLS handshake has failed.
        case insecure
        /// The server answered with an error that no other code names, or with what is no answer of Parley.
        case server
        /// The server asks to send fewer requests.
        case rateLimited
        /// A message has no part or more than 1,000, or its push notification is invalid.
        case invalidMessage
        /// A conversation would have more than 25 participants, or the server allows fewer.
        case tooManyParticipants
        /// A message has more bytes than the server stores.
        case tooLarge
        /// A MIME type is not of the form `type/subtype`.
        case invalidMimeType
        /// A metadata key, text, depth or size is outside its limits.
        case invalidMetadata
        /// The distinct conversation of these participants exists with other metadata.
        case distinctExists
        /// The server has kept the metadata of a distinct conversation that existed already.
        case distinctMetadataIgnored
        /// The user is not, or no longer, a participant of the conversation.
        case notAParticipant
        /// One of the users has blocked the other one.
        case participantBlocked
        /// The conversation does not exist, or no longer.
        case conversationGone
        /// The message does not exist, or no longer.
        case messageGone
        /// A message that the server has cannot be discarded or sent again.
        case alreadySent
        /// The part has its bytes in the message; there is nothing to download.
        case contentInline
        /// The bytes of the part are not on this device.
        case contentNotHere
        /// The server no longer has the bytes of the part.
        case contentGone
        /// The file of a part that was not sent yet is missing.
        case contentMissing
        /// The bytes differ from their digest.
        case contentCorrupt
        /// Another client has opened the store.
        case storeInUse
        /// A newer version of ParleyKit has written the store.
        case storeTooNew
        /// The database of the store is damaged.
        case storeCorrupt
        /// The disk is full.
        case diskFull
        /// The client is closed.
        case closed
        /// The task was cancelled while it waited.
        case cancelled
        /// The store cannot be read or written for another reason.
        case storeUnavailable
    }

    /// The kind of the error.
    public let code: Code
    /// One sentence for developers: what is wrong, and what is allowed.
    public let message: String
    /// The error object of the server's answer; `nil` if there was none.
    public let server: ServerError?
    /// Whether the same request may succeed later without a change.
    public let isTransient: Bool
    /// After how many seconds the server wants the request again; `nil` if it does not say.
    package var retryAfter: Int?

    /// An error object of the server (`{"id","code","message","url"}`).
    public struct ServerError: Hashable, Sendable {
        /// The HTTP status.
        public let status: Int
        /// The name of the error, such as `invalid_property`; empty if the answer has none.
        public let id: String
        /// The number of the error; 0 if the answer has none.
        public let code: Int
        /// The text of the server.
        public let message: String
    }

    /// An error.
    package init(
        _ code: Code, _ message: String, server: ServerError? = nil, isTransient: Bool = false
    ) {
        self.code = code
        self.message = message
        self.server = server
        self.isTransient = isTransient
    }

    static let closed = ParleyError(.closed, "The client is closed; open another one.")
    package static let cancelled = ParleyError(
        .cancelled, "The task was cancelled.", isTransient: true)
}

extension ParleyError: CustomStringConvertible {
    /// The code and the text.
    public var description: String { "\(code.rawValue): \(message)" }
}

// MARK: - In the store
extension ParleyError {
    /// The error as JSON, for a row of the store.
    var stored: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("code", code.rawValue)
            writer.member("message", message)
            writer.member("is_transient", isTransient)
            if let server {
                writer.key("server")
                writer.object { writer in
                    writer.member("status", server.status)
                    writer.member("id", server.id)
                    writer.member("code", server.code)
                    writer.member("message", server.message)
                }
            }
        }
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    /// Reads an error of a row of the store.
    init(stored json: String) {
        let object = (try? JSONDocument(Array(json.utf8)))?.root
        let server = object?["server"].map { server in
            ServerError(
                status: server["status"]?.integer.flatMap(Int.init(exactly:)) ?? 0,
                id: server["id"]?.string ?? "",
                code: server["code"]?.integer.flatMap(Int.init(exactly:)) ?? 0,
                message: server["message"]?.string ?? "")
        }
        self.init(
            object?["code"]?.string.flatMap(Code.init(rawValue:)) ?? .server,
            object?["message"]?.string ?? "", server: server,
            isTransient: object?["is_transient"]?.bool ?? false)
    }
}
