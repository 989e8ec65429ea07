/// An error of a client's request, which has changed nothing.
///
/// Ruling 5 defines the names of members. Only `PlatformAPI` converts a rejection into an API error.
public enum Rejection: Error, Equatable, Sendable {
    /// The kind of an object.
    public enum Subject: Equatable, Sendable {
        case application, token, user, identity, conversation, message, messagePart, content,
            announcement, export, exportKey, webhook, delivery, provider, providerKey, session,
            erasure
    }

    /// The details of an invalid value that the error message needs.
    public struct Detail: Equatable, Sendable {
        /// The path of the value within the invalid member, such as `metadata.a.b`.
        public let path: String?
        /// The number of bytes, characters or elements that were found.
        public let amount: Int?
        /// The limit that was in force, where it is not a constant.
        public let limit: Int?
        /// The text that was found, as the client wrote it.
        public let text: String?

        /// All members.
        public init(
            path: String? = nil, amount: Int? = nil, limit: Int? = nil,
            text: String? = nil
        ) {
            self.path = path
            self.amount = amount
            self.limit = limit
            self.text = text
        }
    }

    /// The state that forbids an operation.
    public enum Obstacle: CaseIterable, Sendable {
        /// The message would be left without parts.
        case lastPart
        /// The application has no public key to encrypt an export with.
        case noExportKey
        /// The last historical export was requested less than a day ago.
        case recentExport
    }

    /// The object never existed, is not visible to the caller, or is a deleted message.
    case notFound(Subject)
    /// The conversation existed and was deleted for all (R18).
    case objectDeleted
    /// A former participant tried to change the conversation (R14).
    case accessDenied
    /// A user tried to change parts of a message that another user sent (client-api §4.3).
    case notSender
    /// A required member is missing: its name.
    case missing(String)
    /// A member has an invalid value: the member, the broken rule, and details of the value.
    case invalid(String, ValidationRule, Detail = Detail())
    /// The operation is well-formed, but the state of its object forbids it.
    case invalidOperation(Obstacle)
    /// The creator has blocked a participant (R31).
    case participantBlocked
    /// A filter would have to examine too many objects for one answer (X9).
    case tooMany
    /// The idempotency key was used with another request before (X2).
    case keyReused
    /// The first request with this idempotency key is still running (X2).
    case inProgress
    /// The conversation was merged into another one, in which the positions of the request are those of other messages
    /// (Y3).
    case merged(into: Conversation.ID)
    /// The proposed id belongs to an object that the caller does not see.
    case idTaken(Subject)
    /// The application has the maximum number of these objects (webhooks §1.2).
    case full(Subject, limit: Int)
    /// The user is being erased, or has the name of an erased user (X16).
    case userErased(UserID)
    /// The requested position of the event log was deleted; the oldest existing one (X3).
    case positionGone(oldest: LogPosition)
}

/// A rule for the value of a member, parameter or header, of one operation or of an object that several operations
/// share.
///
/// `PlatformAPI` has the error message of each rule, with the limits.
public enum ValidationRule: CaseIterable, Sendable {
    // Users, where an operation names several.
    case participantUsers, participantCount, participantCountAfterPatch
    case recipientUsers, recipientCount, followingUsers, followingCount
    case blockedUser, blockCount

    // Conversations.
    case distinct
    case conversationID
    case metadataObject, metadataValue, metadataTextSize, metadataKey, metadataDepth, metadataSize

    // Messages and their parts.
    case messageID, messageIDTwice, batchCount, batchElement
    case partCount, partObject, partsSize
    case partType, partBody, partBodySize, partBase64, partEncoding
    case partContent, partContentSize, partContentUnknown
    case partID, partIDTwice, newPartIndex, unknownPartIndex
    case senderObject, senderChoice, senderUser, senderParticipant
    case senderName, senderNameGone, senderID, senderIdentity
    case scheduleObject, scheduleDelay, scheduleTyping
    case receiptType, receiptPositions, readPosition

    // Announcements and notifications.
    case announcementID, announcementSenderUser, announcementSenderIdentity
    case announcementContent, announcementBodySize
    case notificationObject, notificationText, notificationTexts, notificationData
    case notificationAPNs, notificationRecipients, notificationRecipientUser

    // Users and identities.
    case identityText, identityLength, displayNameEmpty, identityNull, identityKind
    case identityMetadata, identityMetadataValue, identityMetadataCount, identityMetadataPath
    case badgeCount

    // Patches.
    case patchVerb, patchProperty, patchIndex
    case conversationProperty, identityProperty, userProperty, badgeProperty, applicationProperty
    case verbOfUsers, verbOfMetadata, verbOfValue
    case operandText, operandUser, operandUsers, operandUserID, operandUserIDs, operandUserCount
    case operandIdentityMetadata, operandSuspended, operandNumber
    case sessionLifetime

    // Webhooks and exports.
    case webhookVersion, webhookEvents, webhookEventName, webhookSecret
    case webhookTarget, webhookTargetLength, webhookTargetHost
    case webhookConfig, webhookConfigCount, webhookConfigSize
    case providerName, providerKeyText, providerKeyProperty, providerKeyDisabled
    case identityTokenText, sessionUser, deviceType, deviceToken, deviceText
    case secretOverlap, replayAfter, replayBefore
    case publicKey, rsaKey, exportInterval, exportEvents, exportEventName

    // Parameters of lists and of the event log.
    case pageSize, pageStart, pageStartUser, sortOrder, participantState
    case boolean, exactWithoutParticipants, time, userFilter, participantFilter, metadataPath
    case mediaRange, transferStatus, searchText
    case deliveryState, contentChoice, contentInclude, contentDownload
    case inlineSize, inlineTypes, inlineTypeCount
    case deletionMode, deletionLeave, erasureMode
    case logPosition, logPositionBeyondEnd, logPositionWithFilters
    case eventLimit, eventWait, eventTypes, eventParameterTwice, lastEventID
    case eventOrder, eventOrderOfStream, needsAscendingOrder, needsDescendingOrder, eventTimeAlone
    case conversationFilter, conversationInclude, eventInclude
    case listCount, recipientStatus, messageNumber, deliveryInclude
    case feedCursor, feedHistory

    // Signals.
    case typingAction, presenceStatus

    // Uploads.
    case uploadType, uploadLength, uploadLengthLimit
}
