public import JSON
public import Messaging

/// An event as readers of the log see it, the same in every version (X3).
///
/// `data` is the object as 3.0 shows it, or what is left of its name; `changes` is what this event has
/// changed about it.
public struct EventJSON: Sendable {
    /// What the event does not say itself.
    public enum Object: Sendable {
        case none
        case message(MessageJSON)
        case conversation(ConversationJSON)
        case identity(Identity)
        case sender(BasicIdentity)
    }

    let id: EventID
    let position: LogPosition
    let at: Timestamp
    let actor: EventActor?
    let event: Event
    let object: Object

    /// An event to show.
    public init(
        id: EventID, position: LogPosition, at moment: Timestamp, actor: EventActor?,
        event: Event, object: Object
    ) {
        self.id = id
        self.position = position
        at = moment
        self.actor = actor
        self.event = event
        self.object = object
    }

    /// Writes the object; `presentation` is that of the system in 3.0.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id.uuid)
            writer.member("position", position.number)
            writer.member("type", event.type.rawValue)
            writer.member("at", TimestampJSON.text(at))
            write(actor, into: &writer)
            writer.member("subject", event.subject(in: presentation.links))
            writer.key("data")
            writeData(presentation, into: &writer)
            writer.key("changes")
            writer.object { writer in writeChanges(into: &writer) }
        }
    }

    /// Exactly one member; `null` for what the server does by itself.
    private func write(_ actor: EventActor?, into writer: inout JSONWriter) {
        writer.key("actor")
        guard let actor else { return writer.null() }
        writer.object { writer in
            switch actor {
            case .user(let user): writer.member("user_id", user.text)
            case .named(let name): writer.member("name", name)
            case .token(let id): writer.member("token", id.uuid)
            }
        }
    }
}

extension EventJSON {
    /// An event of whatever type.
    public static let schema = JSONSchema.named(
        "Event", shape(.object([]), .choice(EventType.allCases.map(\.rawValue))))

    /// What a page of the log is.
    public static let listSchema = JSONSchema.object([
        .required("events", .array(of: schema)),
        .required(
            "next",
            JSONSchema.integer(0 ... .max).withDescription("What to say as `after` next time.")),
    ])

    static func shape(_ data: JSONSchema, _ type: JSONSchema) -> JSONSchema {
        .object([
            .required("id", .uuid),
            .required("position", .integer(1 ... .max)),
            .required("type", type),
            .required("at", .time),
            .required("actor", actor.orNull),
            .required(
                "subject", JSONSchema.string.withDescription("The id of what it happened to.")),
            .required("data", data),
            .required("changes", .object([])),
        ])
    }

    private static let actor = JSONSchema.anyOf([
        .object([.required("user_id", UserIDJSON.bareSchema)]),
        .object([.required("name", .string)]),
        .object([.required("token", .uuid)]),
    ])
}

extension EventJSON {
    /// An event of one type; where the object is no more, only what it was called is left of `data`.
    public static func schema(of type: EventType) -> JSONSchema {
        .named("Event.\(type.rawValue)", shape(data(of: type), .choice([type.rawValue])))
    }

    private static func data(of type: EventType) -> JSONSchema {
        switch type {
        case .conversationCreated: ConversationJSON.schema(.v3_0)
        case .participantsChanged, .metadataChanged, .conversationMerged:
            .anyOf([ConversationJSON.schema(.v3_0), named])
        case .messageSent, .messageUpdated: .anyOf([MessageJSON.schema(.v3_0), named])
        case .contentUploaded: ContentJSON.schema
        case .identityReplaced: IdentityJSON.schema
        case .identityPatched: .anyOf([IdentityJSON.schema, named])
        case .announcementSent: AnnouncementJSON.schema(.v3_0)
        case .notificationSent:
            .object([
                .required("recipients", .array(of: UserIDJSON.identitySchema)),
                .required("notification", .object([])),
            ])
        case .contentsErased:
            .object([.required("contents", .array(of: .identifier(.content)))])
        case .recordImported:
            JSONSchema.object([
                .required("record", .choice(ArchiveRecordKind.records.map(\.rawValue)))
            ])
            .withDescription("The line of the export that it was.")
        case .webhookCreated, .webhookUpdated, .webhookSecretRotated, .webhookDeleted:
            WebhookJSON.schema
        case .applicationCreated, .applicationSuspended, .sessionLifetimeSet, .tokenCreated,
            .tokenRevoked, .identityNamed, .identityDeleted, .followingChanged, .blocksChanged,
            .badgeSet, .userSuspended, .sessionsEnded, .conversationMatched, .conversationShown,
            .conversationAnnounced, .conversationHidden, .conversationDeleted, .messageDelivered,
            .messageRead, .messageDeleted, .messageHidden, .messageScheduled, .scheduleEnded,
            .batchAccepted, .contentOwned, .contentWithdrawn, .announcementReceived,
            .announcementDeleted, .exportKeyChanged, .exportScheduleChanged, .exportRequested,
            .exportStarted, .exportCompleted, .exportDeleted, .exportExpired, .exportErased:
            named
        }
    }

    /// Its id, and where it belongs.
    private static let named = JSONSchema.object([])
}
