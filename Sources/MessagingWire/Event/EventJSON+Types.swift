public import JSON
public import Messaging

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
        case .identityTold: IdentityJSON.schema
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
            JSONSchema.object([.required("record", .choice(MovedKind.records.map(\.rawValue)))])
                .saying("The line of the export that it was.")
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
