/// The conversation to which a file is uploaded, and the credentials.
public struct UploadTarget: Sendable {
    /// The base of the server's URLs, `http` or `https`, without a trailing slash.
    let server: String
    /// The application id.
    let application: String
    /// A token of the application that may write.
    let token: String
    /// The UUID of the conversation.
    let conversation: String

    /// Parses what a user enters.
    ///
    /// - Parameter conversation: Its UUID, its id (`layer:///conversations/…`) or its URL.
    /// - Throws: ``UploadFailure`` for text that cannot be part of a URL or a header.
    public init(
        server: String, application: String, token: String, conversation: String
    ) throws(UploadFailure) {
        self.server = server.hasSuffix("/") ? String(server.dropLast()) : server
        self.application = application
        self.token = token
        self.conversation = conversation.split(separator: "/").last.map(String.init) ?? ""
        guard UploadTarget.isSegment(self.application) else {
            throw UploadFailure("\(application) is not the id of an application")
        }
        guard UploadTarget.isSegment(self.conversation) else {
            throw UploadFailure("\(conversation) is not the id of a conversation")
        }
    }

    /// The URL at which content is created.
    var contents: String {
        "\(server)/apps/\(application)/conversations/\(conversation)/content"
    }

    /// Whether the text has only letters, digits and hyphens, as in a UUID, which cannot change the path.
    private static func isSegment(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
