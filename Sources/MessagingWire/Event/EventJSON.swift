public import JSON
public import Messaging

/// An event as the event log shows it, the same in every version (X3).
///
/// `data` is the object as version 3.0 shows it, or only its ids once it no longer exists; `changes` lists the changes.
public struct EventJSON: Sendable {
    private let id: EventID
    private let recorded: RecordedEvent
    private let object: ResolvedEvent.Object
    private let includesText: Bool

    /// The JSON of an event.
    ///
    /// - Parameter includesText: Whether there is a member `text` with the event as one line.
    public init(_ resolved: ResolvedEvent, includesText: Bool = false) {
        id = resolved.id
        recorded = resolved.recorded
        object = resolved.object
        self.includesText = includesText
    }

    /// Writes the object.
    ///
    /// - Parameter presentation: The system's, in version 3.0.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        let payload = recorded.event.payloadJSON
        writer.object { writer in
            writer.member("id", id.uuid)
            writer.member("position", recorded.position.number)
            writer.member("type", payload.type.rawValue)
            writer.member("at", TimestampJSON.text(recorded.at))
            write(recorded.actor, into: &writer)
            writer.member("subject", payload.subject(in: presentation.links))
            writer.key("data")
            writeData(of: payload, presentation, into: &writer)
            writer.key("changes")
            writer.object { writer in payload.writeChanges(into: &writer) }
            if includesText {
                writer.member(
                    "text", EventLogLine.text(recorded.event, by: recorded.actor, at: recorded.at))
            }
        }
    }

    /// Writes the actor as an object with exactly one member; `null` for a change by the server itself.
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

    private func writeData(
        of payload: any EventPayloadJSON, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        switch object {
        case .message(let message): MessageJSON(message).write(presentation, into: &writer)
        case .conversation(let conversation):
            ConversationJSON(conversation).write(presentation, into: &writer)
        case .identity(let identity):
            IdentityJSON.write(identity, presentation.links, into: &writer)
        case .sender(let sender):
            payload.writeData(sender: sender, presentation, into: &writer)
        case .none: payload.writeData(sender: nil, presentation, into: &writer)
        }
    }

    // MARK: - Schema

    /// The schema of an event of any type.
    private static let schema = JSONSchema.named(
        "Event", shape(.object([]), .choice(EventType.allCases.map(\.rawValue))))

    /// The schema of a page of the event log.
    public static let listSchema = JSONSchema.object([
        .required("events", .array(of: schema)),
        .required(
            "next",
            JSONSchema.integer(0 ... .max).withDescription(
                "The value of `after`, or of `before` with `order=desc`, for the next request.")),
        .required(
            "scanned",
            JSONSchema.integer(0 ... .max).withDescription(
                "The number of events that were examined.")),
    ])

    /// The schema of an event of one type. If the object no longer exists, `data` has only its ids.
    public static func schema(of type: EventType) -> JSONSchema {
        .named(
            "Event.\(type.rawValue)", shape(type.payloadJSON.dataSchema, .choice([type.rawValue])))
    }

    private static func shape(_ data: JSONSchema, _ type: JSONSchema) -> JSONSchema {
        .object([
            .required("id", .uuid),
            .required("position", .integer(1 ... .max)),
            .required("type", type),
            .required("at", .time),
            .required("actor", actor.orNull),
            .required(
                "subject", JSONSchema.string.withDescription("The id of the object that changed.")),
            .required("data", data),
            .required("changes", .object([])),
            .optional(
                "text",
                JSONSchema.string.withDescription("With `include=text`: the event as one line.")),
        ])
    }

    private static let actor = JSONSchema.anyOf([
        .object([.required("user_id", UserIDJSON.bareSchema)]),
        .object([.required("name", .string)]),
        .object([.required("token", .uuid)]),
    ])
}

/// The JSON and the log line of an event payload.
protocol EventPayloadJSON: EventPayload {
    /// The category of the log line.
    static var logCategory: EventLogLine.Category { get }
    /// The rest of the log line after the actor; it starts with the verb.
    var logSummary: String { get }
    /// Returns the id of the object that changed.
    func subject(in links: LinkBuilder) -> String
    /// Writes `data` if the event has no resolved object; by default an object with ``writeMembers(_:into:)``.
    ///
    /// - Parameter sender: The identity of the sender of an announcement.
    func writeData(
        sender: BasicIdentity?, _ presentation: Presentation, into writer: inout JSONWriter)
    /// Writes the members of `data`; by default the id.
    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter)
    /// Writes the members of `changes`; by default none.
    func writeChanges(into writer: inout JSONWriter)
    /// The schema of `data`; by default any object.
    static var dataSchema: JSONSchema { get }
}

extension EventPayloadJSON {
    func writeData(
        sender: BasicIdentity?, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.object { writer in writeMembers(presentation.links, into: &writer) }
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
    }

    func writeChanges(into writer: inout JSONWriter) {}

    static var dataSchema: JSONSchema { .object([]) }
}

extension Event {
    var payloadJSON: any EventPayloadJSON {
        switch self {
        case .applicationCreated(let payload): payload
        case .applicationRenamed(let payload): payload
        case .applicationSuspended(let payload): payload
        case .sessionLifetimeSet(let payload): payload
        case .tokenCreated(let payload): payload
        case .tokenRevoked(let payload): payload
        case .providerCreated(let payload): payload
        case .providerDeleted(let payload): payload
        case .providerKeyCreated(let payload): payload
        case .providerKeyUpdated(let payload): payload
        case .providerKeyDeleted(let payload): payload
        case .identityReplaced(let payload): payload
        case .identityPatched(let payload): payload
        case .identityDeleted(let payload): payload
        case .followingChanged(let payload): payload
        case .blocksChanged(let payload): payload
        case .badgeSet(let payload): payload
        case .userSuspended(let payload): payload
        case .sessionCreated(let payload): payload
        case .sessionEnded(let payload): payload
        case .sessionsEnded(let payload): payload
        case .conversationCreated(let payload): payload
        case .conversationMatched(let payload): payload
        case .conversationMerged(let payload): payload
        case .conversationShown(let payload): payload
        case .conversationAnnounced(let payload): payload
        case .conversationHidden(let payload): payload
        case .participantsChanged(let payload): payload
        case .participantErased(let payload): payload
        case .metadataChanged(let payload): payload
        case .conversationDeleted(let payload): payload
        case .messageSent(let payload): payload
        case .receiptsRecorded(let payload): payload
        case .partsChanged(let payload): payload
        case .messageDeleted(let payload): payload
        case .messageHidden(let payload): payload
        case .messageErased(let payload): payload
        case .messageScheduled(let payload): payload
        case .scheduleEnded(let payload): payload
        case .batchAccepted(let payload): payload
        case .contentUploaded(let payload): payload
        case .contentOwned(let payload): payload
        case .contentWithdrawn(let payload): payload
        case .contentsErased(let payload): payload
        case .announcementSent(let payload): payload
        case .announcementReceived(let payload): payload
        case .announcementDeleted(let payload): payload
        case .announcementErased(let payload): payload
        case .notificationSent(let payload): payload
        case .exportKeyChanged(let payload): payload
        case .exportScheduleChanged(let payload): payload
        case .exportRequested(let payload): payload
        case .exportStarted(let payload): payload
        case .exportCompleted(let payload): payload
        case .exportDeleted(let payload): payload
        case .exportExpired(let payload): payload
        case .exportErased(let payload): payload
        case .recordImported(let payload): payload
        case .webhookCreated(let payload): payload
        case .webhookUpdated(let payload): payload
        case .webhookSecretRotated(let payload): payload
        case .webhookDeleted(let payload): payload
        }
    }
}

extension EventType {
    fileprivate var payloadJSON: any EventPayloadJSON.Type {
        switch self {
        case .applicationCreated: ApplicationCreated.self
        case .applicationRenamed: ApplicationRenamed.self
        case .applicationSuspended: ApplicationSuspended.self
        case .sessionLifetimeSet: SessionLifetimeSet.self
        case .tokenCreated: TokenCreated.self
        case .tokenRevoked: TokenRevoked.self
        case .providerCreated: ProviderCreated.self
        case .providerDeleted: ProviderDeleted.self
        case .providerKeyCreated: ProviderKeyCreated.self
        case .providerKeyUpdated: ProviderKeyUpdated.self
        case .providerKeyDeleted: ProviderKeyDeleted.self
        case .identityReplaced: IdentityReplaced.self
        case .identityPatched: IdentityPatched.self
        case .identityDeleted: IdentityDeleted.self
        case .followingChanged: FollowingChanged.self
        case .blocksChanged: BlocksChanged.self
        case .badgeSet: BadgeSet.self
        case .userSuspended: UserSuspended.self
        case .sessionCreated: SessionCreated.self
        case .sessionEnded: SessionEnded.self
        case .sessionsEnded: SessionsEnded.self
        case .conversationCreated: ConversationCreated.self
        case .conversationMatched: ConversationMatched.self
        case .conversationMerged: ConversationMerged.self
        case .conversationShown: ConversationShown.self
        case .conversationAnnounced: ConversationAnnounced.self
        case .conversationHidden: ConversationHidden.self
        case .participantsChanged: ParticipantsChanged.self
        case .participantErased: ParticipantErased.self
        case .metadataChanged: MetadataChanged.self
        case .conversationDeleted: ConversationDeleted.self
        case .messageSent: MessageSent.self
        case .messageDelivered: ReceiptsRecorded.self
        case .messageRead: ReceiptsRecorded.self
        case .messageUpdated: PartsChanged.self
        case .messageDeleted: MessageDeleted.self
        case .messageHidden: MessageHidden.self
        case .messageErased: MessageErased.self
        case .messageScheduled: MessageScheduled.self
        case .scheduleEnded: ScheduleEnded.self
        case .batchAccepted: BatchAccepted.self
        case .contentUploaded: ContentUploaded.self
        case .contentOwned: ContentOwned.self
        case .contentWithdrawn: ContentWithdrawn.self
        case .contentsErased: ContentsErased.self
        case .announcementSent: AnnouncementSent.self
        case .announcementReceived: AnnouncementReceived.self
        case .announcementDeleted: AnnouncementDeleted.self
        case .announcementErased: AnnouncementErased.self
        case .notificationSent: NotificationSent.self
        case .exportKeyChanged: ExportKeyChanged.self
        case .exportScheduleChanged: ExportScheduleChanged.self
        case .exportRequested: ExportRequested.self
        case .exportStarted: ExportStarted.self
        case .exportCompleted: ExportCompleted.self
        case .exportDeleted: ExportDeleted.self
        case .exportExpired: ExportExpired.self
        case .exportErased: ExportErased.self
        case .recordImported: RecordImported.self
        case .webhookCreated: WebhookCreated.self
        case .webhookUpdated: WebhookUpdated.self
        case .webhookSecretRotated: WebhookSecretRotated.self
        case .webhookDeleted: WebhookDeleted.self
        }
    }
}

extension JSONWriter {
    /// Writes `id`, `url` and `user_id` of a user.
    mutating func reference(to user: UserID, _ links: LinkBuilder) {
        member("id", UserIDJSON.text(identity: user))
        member("url", links.identity(user))
        member("user_id", user.text)
    }

    /// Writes `id` and `url` of a conversation.
    mutating func reference(to conversation: Conversation.ID, _ links: LinkBuilder) {
        member("id", IdentifierJSON.text(conversation, in: .conversations))
        member("url", links.conversation(conversation))
    }

    /// Writes `id` and `url` of a message, and its `conversation`.
    mutating func reference(
        to message: Message.ID, in conversation: Conversation.ID, _ links: LinkBuilder
    ) {
        member("id", IdentifierJSON.text(message, in: .messages))
        member("url", links.message(message, in: conversation))
        key("conversation")
        object { writer in writer.reference(to: conversation, links) }
    }

    /// Writes the identity ids of users.
    mutating func users(_ member: StaticString, _ users: [UserID]) {
        key(member)
        array { writer in
            for user in users { writer.string(UserIDJSON.text(identity: user)) }
        }
    }

    /// Writes the identity ids of added and removed users.
    mutating func userChanges(_ member: StaticString, added: [UserID], removed: [UserID]) {
        key(member)
        object { writer in
            writer.users("added", added)
            writer.users("removed", removed)
        }
    }

    /// Writes the status that a receipt gives to one user.
    mutating func recipientStatus(of user: UserID, _ kind: Receipts.Kind) {
        let status: RecipientStatus =
            switch kind {
            case .delivery: .delivered
            case .read: .read
            }
        key("recipient_status")
        object { writer in
            writer.key(UserIDJSON.text(identity: user))
            writer.string(status.rawValue)
        }
    }

    /// Writes an operation in the form of a patch.
    mutating func operation(_ name: String, _ property: String, _ value: MetadataTree? = nil) {
        object { writer in
            writer.member("operation", name)
            writer.member("property", property)
            guard let value else { return }
            writer.key("value")
            MetadataJSON.write(value, into: &writer)
        }
    }
}
