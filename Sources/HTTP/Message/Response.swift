/// An answer: status, fields, content, and what becomes of the connection.
public struct Response: Sendable {
    /// What becomes of the connection after this answer.
    public enum Ending: Sendable {
        /// It serves the next request, if the request's body allows that (H92).
        case keep
        /// `Connection: close`, then an orderly close (H96).
        case close
        /// It is closed without an answer, as when a newer request took an upload over.
        case drop
    }

    /// The status.
    public var status: Status
    /// Fields beside those that frame the message.
    public var fields: ResponseFields
    /// The content.
    public var content: Content
    /// What becomes of the connection.
    public var ending: Ending
    /// On whose account the request was made, for logs; `nil` without a valid credential.
    public var owner: RequestOwner?

    /// Makes an answer.
    public init(
        _ status: Status, fields: ResponseFields = ResponseFields(), content: Content = .none,
        ending: Ending = .keep
    ) {
        self.status = status
        self.fields = fields
        self.content = content
        self.ending = ending
    }

    /// Makes an answer with a body of a media type.
    public init(_ status: Status, _ mediaType: String, _ octets: [UInt8], ending: Ending = .keep) {
        self.init(status, content: .bytes(octets), ending: ending)
        fields.add("Content-Type", mediaType)
    }

    /// No answer at all: the connection is closed.
    public static let dropped = Response(.internalServerError, ending: .drop)
}
