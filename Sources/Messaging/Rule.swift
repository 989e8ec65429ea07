/// A rule that the value of a member, parameter or header must keep; each belongs to one operation or to
/// one noun that several operations share.
///
/// A rule says what is wrong, not how that reads: `PlatformAPI` holds the text of each, with the limits.
public enum Rule: CaseIterable, Sendable {
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
    case receiptType, readPosition

    // Announcements and notifications.
    case announcementID, announcementSenderUser, announcementSenderIdentity
    case announcementContent, announcementBodySize
    case notificationObject, notificationText, notificationTexts, notificationData
    case notificationAPNs, notificationRecipients

    // Users and identities.
    case identityText, identityLength, displayNameEmpty, identityNull, identityKind
    case identityMetadata, identityMetadataCount, identityMetadataPath
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
    case secretOverlap, replayAfter, replayBefore
    case publicKey, rsaKey, exportInterval, exportEvents, exportEventName

    // Parameters of lists and of the event log.
    case pageSize, pageStart, pageStartUser, sortOrder
    case truth, exactWithoutParticipants, time, userFilter, participantFilter, metadataPath
    case mediaRange, transferStatus, searchText
    case deliveryState, contentChoice, contentInclude, contentDownload
    case inlineSize, inlineTypes, inlineTypeCount
    case deletionMode, deletionLeave
    case logPosition, logPositionBeyondEnd, logPositionWithFilters
    case eventLimit, eventWait, eventTypes, eventParameterTwice, lastEventID

    // Uploads.
    case uploadType, uploadLength
}
