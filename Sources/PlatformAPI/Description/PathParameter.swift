import JSON
import MessagingWire

/// A hole in a path, by the name it has in the templates.
struct PathParameter: Sendable {
    let name: String
    let schema: JSONSchema
    let text: String
    /// What stands in its place in the examples.
    let sample: String
    /// The operation whose example makes the thing; `nil` for what needs no making.
    let maker: String?
    /// The one that makes it on behalf of a user, below whose path it stands then.
    var userMaker: String?

    /// Every hole of every path; a test asks for the others.
    static let all = [
        PathParameter(
            name: "app", schema: .uuid, text: "The application of the token.",
            sample: Sample.application, maker: nil),
        PathParameter(
            name: "conversation", schema: .uuid, text: "A conversation.",
            sample: Sample.conversation, maker: "createConversation"),
        PathParameter(
            name: "message", schema: .uuid, text: "A message.", sample: Sample.message,
            maker: "sendMessage"),
        PathParameter(
            name: "part", schema: .string(length: 1...128),
            text: "A part of the message: its UUID or the number of its making.",
            sample: "0", maker: nil),
        PathParameter(
            name: "announcement", schema: .uuid, text: "An announcement.",
            sample: Sample.announcement, maker: "announce"),
        PathParameter(
            name: "content", schema: .uuid, text: "A rich content.", sample: Sample.content,
            maker: "createContent", userMaker: "createUserContent"),
        PathParameter(
            name: "export", schema: .uuid, text: "An export.", sample: Sample.export,
            maker: "createExport"),
        PathParameter(
            name: "webhook", schema: .uuid, text: "A webhook.", sample: Sample.webhook,
            maker: "createWebhook"),
        PathParameter(
            name: "delivery", schema: .uuid, text: "A delivery.", sample: Sample.delivery,
            maker: "testWebhook"),
        PathParameter(
            name: "user", schema: UserIDJSON.bareSchema, text: "A user's own id, percent-encoded.",
            sample: Sample.reader, maker: "createConversation"),
        PathParameter(
            name: "followed", schema: UserIDJSON.bareSchema, text: "Who is followed.",
            sample: "cy", maker: nil),
        PathParameter(
            name: "blocked", schema: UserIDJSON.bareSchema, text: "Who is blocked.",
            sample: "cy", maker: nil),
    ]

    /// The holes of a path, in order.
    static func all(in names: [String]) -> [PathParameter] {
        names.compactMap { name in all.first { $0.name == name } }
    }

    /// The operations whose examples make what a path names, in order.
    static func makers(in names: [String]) -> [String] {
        all(in: names).compactMap { parameter in
            names.contains("user") ? parameter.userMaker ?? parameter.maker : parameter.maker
        }
    }
}
