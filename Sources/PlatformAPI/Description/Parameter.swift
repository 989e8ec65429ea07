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
    /// The parameters of a page of a list (platform-api §1.10).
    ///
    /// - Parameter largest: The most items of a page, which is also the default.
    static func page(
        of collection: IdentifierJSON.Collection, upTo largest: Int64 = 100
    ) -> [Parameter] {
        page(from: .name(in: collection), upTo: largest)
    }

    /// The same for a list whose items have ids of another form.
    ///
    /// - Parameter name: The form of an id in `from_id`.
    static func page(from name: JSONSchema, upTo largest: Int64 = 100) -> [Parameter] {
        [
            Parameter(
                "page_size", .integer(1 ... .max),
                "The number of items; the default and the maximum is \(largest)."),
            Parameter(
                "from_id", name,
                "The last item of the previous page; this page begins after it."),
            Parameter("count", .choice(["none"]), "`none`: the answer has no `Layer-Count`."),
        ]
    }

    private static let uncounted = Parameter(
        "count", .choice(["none"]),
        "`none`: the answer has no `Layer-Count`, and a search with filters may end early.")

    /// The parameters that put contents into the answer itself (X8).
    static let inline = [
        Parameter(
            "inline_max_size", .integer(0...InlineContentPreference.sizeLimit),
            "Includes contents of at most this many bytes in the answer, in base64; 8 MiB in all."
        ),
        Parameter(
            "inline_types", .string,
            "Includes only contents of these types, such as `image/jpeg,text/*`; without "
                + "`inline_max_size` those of at most 2048 bytes."),
    ]

    /// The parameters of a page of a list of users (platform-api §5.8).
    static let pageOfUsers = [
        Parameter(
            "page_size", .integer(1 ... .max),
            "The number of users; the default and the maximum is 500."),
        Parameter(
            "from_id", UserIDJSON.namingSchema(.v3_0),
            "The last user of the previous page; this page begins after that user."),
        uncounted,
    ]

    /// The key of an endpoint that has one (platform-api §1.9).
    static let replayKey = Parameter(
        "If-None-Match", .uuid,
        "A UUID without quotes that identifies a repeat of this request; it becomes the id of the new object."
    )
}

extension Parameter {
    /// The filters of a list of conversations, also by metadata (X9).
    static let conversationFilters = [
        Parameter(
            "participants", .string,
            "Only conversations in which all of these users participate, separated by commas."),
        Parameter(
            "exact", .choice(["true", "false"]),
            "Whether they have no participants besides `participants`."),
        Parameter(
            "distinct", .choice(["true", "false"]),
            "`true`: only distinct conversations; `false`: only others."),
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
        Parameter(
            "suspended", .choice(["true", "false"]),
            "`true`: only suspended users; `false`: only others."),
        Parameter(
            "q", .string(length: 1 ... .max),
            "A text that the id or the display name contains; upper and lower case are equal."),
        Parameter("created_after", .string, "Only users created after this time."),
        Parameter("created_before", .string, "Only users created before this time."),
    ]

    /// The parameter that adds the transfer state to an answer (X7).
    static let include = [
        Parameter(
            "include", .choice(["transfer"]), "`transfer`: also the progress of the upload.")
    ]

    /// Adds counts and times to conversations.
    static let details = [
        Parameter(
            "include", .choice(["details"]),
            "`details`: also the number of messages, the time of the last one, and the time of the "
                + "last write of each text of the metadata. Cannot be combined with `as_of`.")
    ]

    /// The parameter that shows numbers of recipients.
    static let recipients = [
        Parameter(
            "recipient_status", .choice(["counts"]),
            "`counts`: `recipient_status` has the number of recipients in each status.")
    ]

    /// The parameter that reads an object as of an earlier event (ruling 27).
    static let asOf = [
        Parameter(
            "as_of", .pattern("[0-9]+"),
            "A position of the event log: the answer is as it was right after that event.")
    ]

    /// The parameter that makes browsers save a download (uploads §9.6).
    static let saving = [
        Parameter("dl", .choice(["1"]), "`1`: browsers save the content instead of showing it.")
    ]

    /// The filters of a list of messages (X9).
    static let messageFilters = [
        Parameter("sender", .string, "Only messages sent by this user."),
        Parameter(
            "mime_type", .string, "Only messages with a part of this type, such as `image/*`."),
        Parameter(
            "transfer_status",
            .choice(TransferStatus.allCases.map(\.rawValue)),
            "Only messages with a part whose content has this status."),
        Parameter("sent_after", .string, "Only messages sent after this time."),
        Parameter("sent_before", .string, "Only messages sent before this time."),
        Parameter(
            "unread_by", .string, "Only messages that were sent to this user and are unread."),
    ]

    /// The key that identifies a repeated `POST` or `PATCH` (X2).
    static let idempotencyKey = Parameter(
        "Idempotency-Key", .string,
        "1 to 255 visible ASCII characters; a repeat within a day gets the same answer.")

    /// The version that the client wants to change (X4).
    static let ifMatch = Parameter(
        "If-Match", .string,
        "The entity tag of the version to change; if the object has another, the answer is 412.")

    /// The version that the client has (X4).
    static let ifNoneMatch = Parameter(
        "If-None-Match", .string,
        "The entity tag of the version that the client has; if it is current, the answer is 304.")

    /// The preferred answer to a patch (X5).
    static let prefer = Parameter(
        "Prefer", .string,
        "`return=representation`: the answer is the changed object; `handling=strict`: unknown parameters are "
            + "errors.")
}

// MARK: - Of answers

extension Parameter {
    /// The headers of any answer that describe how its request was understood (rulings 21, 31).
    static let negotiated = [
        Parameter(
            Negotiation.versionField.description, .choice(APIVersion.allCases.map(\.rawValue)),
            "The version of the answer; missing if the request was rejected before one was chosen."
        ),
        Parameter(
            Negotiation.ignoredField.description, .string,
            "Unknown query parameters, percent-encoded and separated by commas; ten at most."),
    ]

    /// The version of the object (X4).
    static let tag = Parameter("ETag", .string, "The version of the object.", isRequired: true)

    static let tagOfView = Parameter(
        "ETag", .string, "A weak tag of what the user sees; not the version of the object.",
        isRequired: true)
    static let applied = Parameter(
        "Preference-Applied", .string, "The preference that was applied.", isRequired: true)

    static let location = Parameter("Location", .string, "The URL of the object.", isRequired: true)

    static let contentLocation = Parameter(
        "Content-Location", .string,
        "The URL of the object, when the request named it by another id.")

    /// The position of the effect of a write (Y2).
    static let cursor = Parameter(
        "Parley-Cursor", .string,
        "The position of the effect in the feed of the user, as `EPOCH.POSITION`.", isRequired: true
    )

    static let link = Parameter(
        "Link", .string, "The URL of the next page, with `rel=\"next\"`; missing on the last page.")

    static let count = Parameter(
        "Layer-Count", .integer(0 ... .max),
        "The number of items of the whole list; missing with `count=none`.")

    static let scan = Parameter(
        "Parley-Scan", .string,
        "`partial; next=ID` where a search with `count=none` ended before a full page; `Link` continues it."
    )
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
    /// The operation whose example creates the object in paths below `/users/{user}`; `nil` for ``maker``.
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
            name: "erasure", schema: .uuid, text: "An erasure.", sample: Sample.erasure,
            maker: "eraseUser"),
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
            name: "identity", schema: UserIDJSON.bareSchema,
            text: "A user's own id, percent-encoded.", sample: Sample.reader, maker: nil),
        PathParameter(
            name: "device", schema: .string(length: 1...256), text: "The id of a device.",
            sample: "phone", maker: nil),
        PathParameter(
            name: "followed", schema: UserIDJSON.bareSchema, text: "The followed user.",
            sample: "cy", maker: nil),
        PathParameter(
            name: "provider", schema: .uuid, text: "A provider of identity tokens.",
            sample: Sample.provider, maker: "createProvider"),
        PathParameter(
            name: "key", schema: .uuid, text: "A key of the provider.",
            sample: Sample.key, maker: "createProviderKey"),
        PathParameter(
            name: "session", schema: .uuid, text: "A session of the user.",
            sample: Sample.session, maker: nil),
        PathParameter(
            name: "token", schema: .pattern("[A-Za-z0-9_.-]+"), text: "A session token.",
            sample: "c2Vzc2lvbg", maker: nil),
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
