import HTTP
import JSON
import Messaging
import MessagingWire

/// A query parameter or a header field, of a request or of an answer.
struct Parameter: Sendable {
    let name: String
    let schema: JSONSchema
    /// One sentence for people.
    let text: String
    let isRequired: Bool
    /// Whether it describes all query parameters whose names begin with its name.
    var isPrefix = false

    init(_ name: String, _ schema: JSONSchema, _ text: String, isRequired: Bool = false) {
        self.name = name
        self.schema = schema
        self.text = text
        self.isRequired = isRequired
    }
}

// MARK: - Of requests

extension Parameter {
    /// The pages of a list (platform-api §1.10).
    ///
    /// - Parameter largest: The most items of a page, which is also the default.
    static func page(
        of collection: IdentifierJSON.Collection, upTo largest: Int64 = 100
    ) -> [Parameter] {
        page(from: .name(in: collection), upTo: largest)
    }

    /// The same for a list whose items have other ids.
    static func page(from name: JSONSchema, upTo largest: Int64 = 100) -> [Parameter] {
        [
            Parameter(
                "page_size", .integer(1 ... .max),
                "The number of items; the default and the maximum is \(largest)."),
            Parameter(
                "from_id", name,
                "The last item of the page before; the page begins after it."),
        ]
    }

    /// Contents in the answer itself (X8).
    static let inline = [
        Parameter(
            "inline_max_size", .integer(0...InlineContentPreference.sizeLimit),
            "Contents of at most this many bytes are in the answer itself, in base64; 8 MiB in all."
        ),
        Parameter(
            "inline_types", .string,
            "Only those of these types, such as `image/jpeg,text/*`; up to 2048 bytes unless more "
                + "is asked for."),
    ]

    /// The pages of a list of users (platform-api §5.8).
    static let pageOfUsers = [
        Parameter(
            "page_size", .integer(1 ... .max),
            "The number of users; the default and the maximum is 500."),
        Parameter(
            "from_id", UserIDJSON.namingSchema(.v3_0),
            "The last user of the page before; the page begins after that user."),
    ]

    /// The key of an endpoint that has one (platform-api §1.9).
    static let replayKey = Parameter(
        "If-None-Match", .uuid,
        "A plain UUID under which a repeat is recognised; it becomes the id of the new object.")
}

extension Parameter {
    /// The filters of a list of conversations, texts of their metadata included (X9).
    static let conversationFilters = [
        Parameter("participants", .string, "Users that all participate, separated by commas."),
        Parameter("exact", .choice(["true", "false"]), "Whether there are no other participants."),
        Parameter("distinct", .choice(["true", "false"]), "Whether they are distinct."),
        Parameter("created_after", .string, "Only conversations created after this time."),
        Parameter("created_before", .string, "Only conversations created before this time."),
        metadataFilter,
    ]

    private static let metadataFilter: Parameter = {
        var filter = Parameter(
            ConversationFilter.metadataPrefix, .string,
            "The value at a path of the metadata, such as `metadata.topic=keys`.")
        filter.isPrefix = true
        return filter
    }()

    /// The filters of a list of users (X9).
    static let userFilters = [
        Parameter("suspended", .choice(["true", "false"]), "Whether they are suspended."),
        Parameter(
            "q", .string(length: 1 ... .max),
            "A text that the id or the display name contains, in upper or lower case."),
        Parameter("created_after", .string, "Only users created after this time."),
        Parameter("created_before", .string, "Only users created before this time."),
    ]

    /// The parameter that adds the transfer state to an answer (X7).
    static let include = [
        Parameter(
            "include", .choice(["transfer"]), "`transfer`: also the progress of the upload.")
    ]

    /// Objects as they were (rulings 27).
    static let asOf = [
        Parameter(
            "as_of", .pattern("[0-9]+"),
            "A position of the event log: the answer is as it was right after that event.")
    ]

    /// The parameters of a fresh download URL (uploads §9.6).
    static let saving = [
        Parameter("dl", .choice(["1"]), "`1`: browsers save what the URL opens, whatever it is.")
    ]

    /// The filters of a list of messages (X9).
    static let messageFilters = [
        Parameter("sender", .string, "The user that sent them."),
        Parameter("mime_type", .string, "The type of one part at least, such as `image/*`."),
        Parameter(
            "transfer_status",
            .choice(TransferStatus.allCases.map(\.rawValue)),
            "How far the content of one part at least has come."),
        Parameter("sent_after", .string, "Only messages sent after this time."),
        Parameter("sent_before", .string, "Only messages sent before this time."),
        Parameter("unread_by", .string, "A user that has read none of them."),
    ]

    /// The name of a request that changes something (X2).
    static let idempotencyKey = Parameter(
        "Idempotency-Key", .string,
        "1 to 255 visible ASCII characters; a repeat within a day gets the same answer.")

    /// The version a caller means to change (X4).
    static let ifMatch = Parameter(
        "If-Match", .string, "The entity tag of the version to change; another is 412.")

    /// The version that the caller has (X4).
    static let ifNoneMatch = Parameter(
        "If-None-Match", .string, "The entity tag of a version already known; that one is 304.")

    /// The preferred answer to a patch (X5).
    static let prefer = Parameter(
        "Prefer", .string,
        "`return=representation` to get the object in place of nothing; `handling=strict` to have unknown "
            + "parameters refused.")
}

// MARK: - Of answers

extension Parameter {
    /// The headers of any answer that describe how its request was understood (rulings 21, 31).
    static let negotiated = [
        Parameter(
            Negotiation.versionField.description, .choice(APIVersion.allCases.map(\.rawValue)),
            "The version of the answer; absent where the request was refused before one was chosen."
        ),
        Parameter(
            Negotiation.ignoredField.description, .string,
            "Unknown query parameters, percent-encoded and separated by commas; ten at most."),
    ]

    /// The version of the object (X4).
    static let tag = Parameter("ETag", .string, "Its version.", isRequired: true)

    static let tagOfCurrent = Parameter(
        "ETag", .string, "Its version, while the user is a participant.")
    static let applied = Parameter(
        "Preference-Applied", .string, "The preference that was followed.", isRequired: true)

    static let location = Parameter("Location", .string, "Where it is.", isRequired: true)

    static let contentLocation = Parameter(
        "Content-Location", .string,
        "The URL of the object, when the request named it by another id.")

    static let link = Parameter(
        "Link", .string, "The next page, with `rel=\"next\"`; none on the last.")

    static let count = Parameter(
        "Layer-Count", .integer(0 ... .max), "How many items the whole list has.",
        isRequired: true)
}

/// A parameter of a path, by its name in the templates.
struct PathParameter: Sendable {
    let name: String
    let schema: JSONSchema
    let text: String
    /// Its value in the examples.
    let sample: String
    /// The operation whose example creates the object; `nil` for none.
    private let maker: String?
    /// The operation that creates it for a user, for paths below a user's.
    private var userMaker: String?

    /// The parameters of all paths; a test checks that none is missing.
    private static let all = [
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
            text: "A part of the message: its UUID or its number.",
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
            name: "followed", schema: UserIDJSON.bareSchema, text: "The followed user.",
            sample: "cy", maker: nil),
        PathParameter(
            name: "blocked", schema: UserIDJSON.bareSchema, text: "The blocked user.",
            sample: "cy", maker: nil),
    ]

    /// The parameters of a path, in order.
    static func all(in names: [String]) -> [PathParameter] {
        names.compactMap { name in all.first { $0.name == name } }
    }

    /// Returns the operations whose examples create what a path names, in order.
    static func makers(in names: [String]) -> [String] {
        all(in: names).compactMap { parameter in
            names.contains("user") ? parameter.userMaker ?? parameter.maker : parameter.maker
        }
    }
}
