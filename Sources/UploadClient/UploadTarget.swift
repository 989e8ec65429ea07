/// Where a file is brought to, and in whose name.
public struct UploadTarget: Sendable {
    /// The base of the server's URLs, `http` or `https`, without a slash at its end.
    let server: String
    /// The application's id.
    let application: String
    /// A token of it that may write.
    let token: String
    /// The conversation's UUID.
    let conversation: String

    /// Takes what a person says.
    ///
    /// - Parameter conversation: Its UUID, its id (`layer:///conversations/…`) or its URL.
    /// - Throws: ``UploadFailure`` for what could not stand in a URL or in a field.
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

    /// Where its contents are made.
    var contents: String {
        "\(server)/apps/\(application)/conversations/\(conversation)/content"
    }

    /// Letters, digits and hyphens, as in a UUID: nothing that would change the path.
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
