import Messaging
import MessagingWire

extension ValidationRule {
    /// Returns the error message: which member broke this rule, what is allowed, and what to do.
    ///
    /// - Parameters:
    ///   - name: The invalid member as `data.property` names it; it may be a text of the client.
    ///   - detail: What was found.
    func sentence(_ name: String, _ detail: Rejection.Detail) -> String {
        let member = (detail.path ?? name).quoted
        let amount = (detail.amount ?? 0).grouped
        let found = detail.text.map { text in "; \(text.quoted) is not known" } ?? ""
        return switch self {
        // Users.
        case .participantUsers: "\(member) must be an array of \(Self.users)."
        case .participantCount:
            "\(member) names \(amount) users; a conversation has 1 to \(detail.limitText)."
        case .participantCountAfterPatch:
            "\(member) would name \(amount) users after this patch; a conversation may have at most \(detail.limitText)."
        case .recipientUsers:
            "\(member) must be an array of the recipients: \(Self.users)."
        case .recipientCount:
            "\(member) names \(amount) users; 1 to \(Announcement.recipientLimit.grouped) are allowed in one request."
        case .followingUsers:
            "The body (\(member)) must be an array of the users to follow: \(Self.users)."
        case .followingCount:
            "The body (\(member)) names \(amount) users; at most \(UserPatch.blockLimit.grouped) can be followed in one request."
        case .blockedUser: "\(member) must be the id of the user to block, \(Self.userID)."
        case .sessionUser: "\(member) must be the id of the user, \(Self.userID)."
        case .blockCount:
            "This change of \(member) would make the list of blocked users \(amount) long; at most \(UserPatch.blockLimit.grouped) are allowed."

        // Conversations.
        case .distinct: "\(member) must be `true` or `false`."
        case .conversationID:
            "\(member) must be a UUID or `layer:///conversations/{uuid}`."
        case .metadataObject: "\(member) must be an object of strings and objects."
        case .metadataValue:
            "\(member) must be a string or an object; other types are not stored in metadata."
        case .metadataTextSize:
            "\(member) is \(amount) bytes; the value of a key may have at most \(MetadataLimits.bytesInText.grouped) bytes."
        case .metadataKey: keyText(member, detail.text ?? "")
        case .metadataDepth:
            "\(member) is too deep; metadata may have \(MetadataLimits.depth) levels of objects below its root."
        case .metadataSize:
            "\(member) is \(amount) bytes as compact JSON; metadata may have at most \(MetadataLimits.bytesInTree.grouped) bytes in all."

        // Messages.
        case .messageID: "\(member) must be a UUID or `layer:///messages/{uuid}`."
        case .messageIDTwice: "\(member) must be different for each message of a batch."
        case .batchCount:
            "\(member) must be an array of 1 to \(Message.batchLimit) messages; this one has \(amount)."
        case .batchElement: "Each element of \(member) must be an object."
        case .partCount:
            "\(member) must be an array of 1 to \(Message.partLimit.grouped) parts"
                + (detail.amount == nil ? "." : "; this one has \(amount).")
        case .partObject: "Each element of \(member) must be an object."
        case .partsSize:
            "\(member) have \(amount) bytes together; a message may have at most \(detail.limitText) bytes."
        case .partType:
            "\(member) must be a media type such as `text/plain`, without U+0000."
        case .partBody: "\(member) must be a string; bytes are sent in base64 with `encoding`."
        case .partBodySize:
            "\(member) is \(amount) bytes; parts above \(MessagePart.inlineLimit.grouped) bytes must be uploaded as content (POST …/content)."
        case .partBase64: "\(member) must be valid base64, because `encoding` says so."
        case .partEncoding: "\(member) must be `base64`, or absent for text."
        case .partContent:
            "\(member) must be an object whose `id` is `layer:///content/{uuid}`."
        case .partContentSize:
            "\(member) must have a `size` that is a whole number of bytes from 0, or none."
        case .partContentUnknown:
            "\(member) must name a content of this conversation or of no conversation yet, whose upload is complete."
        case .partID:
            "\(member) must be a UUID or `layer:///messages/{uuid}/parts/{uuid}`."
        case .partIDTwice: "\(member) must be different for each part of a message."
        case .newPartIndex:
            "\(member) of a new part must be a UUID; a number names a part that exists."
        case .unknownPartIndex:
            "\(member) names a part number that the message does not have; leave it out for a new part."
        case .senderObject:
            "\(member) must be an object with `user_id` or `name`."
        case .senderChoice: "\(member) must have `user_id` or `name`, not both."
        case .senderUser: "\(member) must be the id of the sending user, \(Self.userID)."
        case .senderParticipant:
            "\(member) must be a current participant of the conversation; a service sends with `sender.name`."
        case .senderName: "\(member) must be a string of 1 to 128 characters without U+0000."
        case .senderNameGone:
            "\(member) is not accepted from version 2.0 on; send as a user with `sender_id`."
        case .senderID: "\(member) must be \(Self.anyUser)."
        case .senderIdentity:
            "\(member) must be a current participant or a user with an identity (POST …/users/{user}/identity)."
        case .scheduleObject: "\(member) must be an object with `delay_in_seconds`."
        case .scheduleDelay: "\(member) must be a number from 1 to 300."
        case .scheduleTyping:
            "\(member) must be a number from 1 to the value of `delay_in_seconds`, or 0 for none."
        case .receiptType: "\(member) must be `delivery` or `read`."
        case .readPosition:
            "\(member) must be a whole number from 0, the `position` of a message, or `null` for all."

        // Announcements and notifications.
        case .announcementID: "\(member) must be a UUID or `layer:///announcements/{uuid}`."
        case .announcementSenderUser:
            "\(member) is not accepted in an announcement before version 2.0; use `sender.name`."
        case .announcementSenderIdentity:
            "\(member) must be a user with an identity, because announcements have no participants (POST …/users/{user}/identity)."
        case .announcementContent:
            "\(member) is not accepted in an announcement; send at most \(MessagePart.inlineLimit.grouped) bytes in `parts.body`."
        case .announcementBodySize:
            "\(member) is \(amount) bytes; a part of an announcement may have at most \(MessagePart.inlineLimit.grouped) bytes."
        case .notificationObject: "\(member) must be an object such as `{\"text\":\"Hello\"}`."
        case .notificationText: "\(member) must be a string, as all texts of a notification."
        case .notificationTexts: "\(member) must be an array of strings."
        case .notificationData: "\(member) must be an object of strings."
        case .notificationAPNs: "\(member) must be an object; its `launch-image` must be a string."
        case .notificationRecipients:
            "The `recipients` of \(member) must be an array of objects with `recipient` or `user_id`, or an object keyed by user id."
        case .notificationRecipientUser:
            "Each of the `recipients` of \(member) must name a user by \(Self.anyUser)."

        // Identities and users.
        case .identityText: "\(member) must be a string."
        case .identityLength:
            "\(member) has \(amount) characters; at most \(detail.limitText) are allowed."
        case .displayNameEmpty: "\(member) must have at least one character."
        case .identityNull: "\(member) must not contain U+0000."
        case .identityKind: "\(member) must be \(Self.choice(Identity.Kind.self))."
        case .identityMetadata: "\(member) of an identity must be an object of strings."
        case .identityMetadataValue: "\(member) of an identity must be a string."
        case .identityMetadataCount:
            "\(member) has \(amount) keys; the metadata of an identity may have at most \(Identity.metadataLimit)."
        case .identityMetadataPath:
            "\(member) names more than one key; the metadata of an identity has no nested objects."
        case .badgeCount:
            "\(member) must be a whole number from 0 to \(Int(Badge.externalUnreadCounts.upperBound).grouped)."

        // Patches.
        case .patchVerb: "\(member) must be `add`, `remove`, `set` or `delete`\(found)."
        case .patchProperty: "\(member) must be a string such as `metadata.topic`."
        case .patchIndex:
            "`index` is not supported; a change of \(member) names its operand in `value` or `id`."
        case .conversationProperty:
            "\(member) of a conversation's patch must be `participants`, `metadata` or a path such as `metadata.topic`\(found)."
        case .identityProperty:
            "\(member) of an identity's patch must be a member such as `display_name`, `metadata` or a path such as `metadata.team`\(found)."
        case .userProperty:
            "\(member) of a user's patch must be `blocks` or `suspended`\(found)."
        case .badgeProperty:
            "\(member) of a badge's patch must be `external_unread_count`\(found)."
        case .applicationProperty:
            "\(member) of an application's patch must be `session_ttl_in_seconds`\(found)."
        case .verbOfUsers:
            "The users of \(member) are changed by `add`, `remove` or `set`; `delete` does not apply."
        case .verbOfMetadata:
            "The metadata at \(member) is changed by `set` or `delete`; `add` and `remove` do not apply."
        case .verbOfValue:
            "The value of \(member) is changed by `set` only."
        case .operandText: "`value` must be a string to set \(member)."
        case .operandUser:
            "`value` must be a string that names one user to add to or remove from \(member)."
        case .operandUsers: "`value` must be an array of strings that name users to set \(member)."
        case .operandUserID:
            "\(member) can be changed by one user only: \(Self.anyUser)."
        case .operandUserIDs: "\(member) can be set to users only: \(Self.users)."
        case .operandUserCount:
            "This patch names \(amount) users in \(member); at most \(detail.limitText) are allowed in one patch."
        case .operandIdentityMetadata:
            "`value` must be an object of strings to set \(member)."
        case .operandSuspended: "\(member) must be `true` or `false` to set `suspended`."
        case .operandNumber: "`value` must be a number to set \(member)."
        case .sessionLifetime:
            "\(member) must be a whole number from \(Int(Application.sessionLifetimes.lowerBound)) to \(Int(Application.sessionLifetimes.upperBound).grouped)."

        // Webhooks and exports.
        case .webhookVersion: "\(member) must be `\"1.0\"`, `\"2.0\"` or `\"3.0\"`."
        case .webhookEvents: "\(member) must be an array with at least one name of an event."
        case .webhookEventName:
            "\((detail.text ?? "").quoted) in \(name.quoted) is no event of this version; known are \(detail.path ?? "")."
        case .webhookSecret:
            "\(member) must be a string of 1 to \(Webhook.Draft.secretLimit.grouped) characters without U+0000."
        case .webhookTarget:
            "\(member) must be an absolute `https://` URL of a public host, without user name and password, unless the settings `webhooks.allow_http` and `webhooks.allowed_networks` of this server allow others."
        case .webhookTargetLength:
            "\(member) may have at most \(Webhook.Draft.targetLimit.grouped) characters."
        case .webhookTargetHost:
            "\(member) names the host \((detail.text ?? "").quoted), whose address is not public; the settings `webhooks.allowed_networks` and, for `http://`, `webhooks.allow_http` of this server can allow it."
        case .webhookConfig: "\(member) must be an object of strings without nested objects."
        case .webhookConfigCount:
            "\(member) has \(amount) members; at most \(Webhook.Draft.settingLimit) are allowed."
        case .webhookConfigSize:
            "\(member) has \(amount) bytes in names and values; at most \(Webhook.Draft.configLimit.grouped) are allowed."
        case .providerName:
            "\(member) must be a string of 1 to \(Provider.nameLimit) characters without U+0000."
        case .providerKeyText:
            "\(member) must be a public key in PEM form: RSA of 2,048 bits or more, P-256 or Ed25519."
        case .providerKeyProperty: "\(member) of a key's patch must be `disabled`\(found)."
        case .providerKeyDisabled: "\(member) must be `true` or `false`."
        case .identityTokenText:
            "\(member) must be a string: the identity token that the application's own server signed."
        case .receiptPositions:
            "\(member) must be a string of positions such as `1-40,42`, ascending and at most \(ReceiptJSON.intervalLimit) intervals."
        case .deviceType: "\(member) must be `apns` or `gcm`."
        case .deviceToken: "\(member) must be a string of 1 to 4,096 visible ASCII characters."
        case .deviceText: "\(member) must be a string of 1 to 256 characters without U+0000."
        case .secretOverlap:
            "\(member) must be a whole number from 0 to \(Int(WebhookSecretJSON.maximumOverlap).grouped)."
        case .replayAfter: "\(member) must be a position of the event log: a whole number from 0."
        case .replayBefore: "\(member) must be a position of the event log above `after`."
        case .publicKey: "\(member) must be a string without U+0000."
        case .rsaKey: "\(member) must be an RSA public key of at least 2,048 bits in PEM form."
        case .exportInterval: "\(member) must be \(Self.choice(ExportSchedule.Interval.self))."
        case .exportEvents:
            "\(member) must be an array of names of events, with at least one for daily exports."
        case .exportEventName:
            "\((detail.text ?? "").quoted) in \(name.quoted) is no event of exports; known are \(detail.path ?? "")."

        // Parameters.
        case .pageSize:
            "\(member) must be a whole number from 1; larger pages than allowed are cut."
        case .pageStart:
            "\(member) must be the id of an item of this list: a UUID or a `layer:///` id."
        case .pageStartUser:
            "\(member) must be the user after which the page starts: \(Self.anyUser)."
        case .sortOrder: "\(member) must be `created_at` or `last_message`."
        case .participantState: "\(member) must be `current` or `former`."
        case .boolean: "\(member) must be `true` or `false` in the query."
        case .exactWithoutParticipants: "\(member) needs the parameter `participants`."
        case .time: "\(member) must be a time such as `2026-05-02T14:34:27Z`."
        case .userFilter: "\(member) must name one user: \(Self.anyUser)."
        case .participantFilter: "\(member) must name users, separated by commas: \(Self.users)."
        case .metadataPath:
            "\(member) must be a path with a key after each dot, such as `metadata.topic`."
        case .mediaRange: "\(member) must be a media type or a range such as `image/*`."
        case .transferStatus: "\(member) must be \(Self.choice(TransferStatus.self))."
        case .searchText: "\(member) must have at least one character to search for."
        case .deliveryState: "\(member) must be \(Self.choice(WebhookDelivery.State.self))."
        case .contentChoice: "\(member) must be \(Self.choice(ExportedContents.self))."
        case .contentInclude: "\(member) must be `transfer`."
        case .contentDownload: "\(member) must be `1`."
        case .inlineSize:
            "\(member) must be a whole number of bytes from 0 to \(Int(InlineContentPreference.sizeLimit).grouped)."
        case .inlineTypes:
            "\(member) must be media types or ranges such as `image/*`, separated by commas\(found)."
        case .inlineTypeCount:
            "\(member) has \(amount) media types; at most \(InlineContentPreference.maximumTypes) are allowed."
        case .deletionMode: "\(member) must be `all_participants` or `my_devices`."
        case .erasureMode: "\(member) must be `erase`."
        case .deletionLeave: "\(member) must be `true` or `false` to delete a conversation."
        case .logPosition: "\(member) must be a position of the event log in digits."
        case .logPositionBeyondEnd:
            "\(member) is beyond the end of the event log, which is \(amount)."
        case .logPositionWithFilters: "\(member) cannot be combined with filters."
        case .eventLimit:
            "\(member) must be a whole number from 1; above \(EventQuery.maximumLimit.grouped) it is cut."
        case .eventWait:
            "\(member) must be a whole number of seconds from 0; above \(EventQuery.maximumWait / 1000) it is cut."
        case .eventTypes: "\(member) must be types of events, separated by commas\(found)."
        case .eventParameterTwice: "\(member) may appear only once in the query."
        case .eventOrder: "\(member) must be `asc` or `desc`."
        case .eventOrderOfStream: "\(member) must be `asc` for a stream."
        case .needsAscendingOrder: "\(member) cannot be combined with `before` or `order=desc`."
        case .needsDescendingOrder: "\(member) needs the parameter `order=desc`."
        case .eventTimeAlone: "\(member) cannot be combined with `after` or `before`."
        case .conversationFilter:
            "\(member) must name one conversation: a UUID or `layer:///conversations/{UUID}`."
        case .conversationInclude:
            "\(member) must be `details`, and cannot be combined with `as_of`."
        case .listCount: "\(member) must be `none`."
        case .deliveryInclude: "\(member) must be `attempts`."
        case .recipientStatus: "\(member) must be `counts`."
        case .messageNumber:
            "\(member) must be the number of a message in its conversation, from 1."
        case .eventInclude: "\(member) must be `text`."
        case .lastEventID: "\(member) must be the `id` of an event of this log."
        case .feedCursor:
            "\(member) must be a `cursor` that this server has sent, or be left out to receive everything."
        case .feedHistory: "\(member) must be a whole number from 0, `unread` or `all`."

        // Signals.
        case .typingAction: "\(member) must be \(Self.choice(TypingAction.self))\(found)."
        case .presenceStatus:
            "\(member) must be \(Self.choice(PresenceStatus.self)), or `auto` for the last one\(found)."

        // Uploads.
        case .uploadType: "\(member) must be a media type such as `image/png`."
        case .uploadLength:
            "\(member) must be a whole number of bytes, in digits."
        case .uploadLengthLimit:
            "\(member) is above the limit of \(detail.limitText) bytes for one upload; send less, or split the content."
        }
    }

    private func keyText(_ path: String, _ key: String) -> String {
        let rule = "keys of metadata have ASCII letters, digits, `-` and `_` only."
        let bad = key.unicodeScalars.first { scalar in
            !MetadataTree.isLegal(key: String(scalar))
        }
        guard let bad else { return "\(path) has an empty key; \(rule)" }
        return "The key \(key.quoted) in \(path) contains \(String(bad).quoted); \(rule)"
    }

    private static let userID = "1 to 128 characters without U+0000 and not `.` or `..`"
    private static let anyUser = "a user id or `layer:///identities/{user}`, of \(userID)"
    private static let users = "user ids or `layer:///identities/{user}`, each of \(userID)"

    private static func choice<Value: CaseIterable & RawRepresentable<String>>(
        _ values: Value.Type
    ) -> String {
        let names = values.allCases.map { value in "`\(value.rawValue)`" }
        guard names.count > 1, let last = names.last else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension Rejection.Detail {
    /// The limit that was in force.
    fileprivate var limitText: String { (limit ?? 0).grouped }
}

extension String {
    /// This text as error messages quote it, in backticks.
    ///
    /// A client's text may be a megabyte of control characters: at most 64 scalars are shown, and what
    /// is invisible or would end the quotation is written as `\u{…}`.
    var quoted: String {
        var quoted = "`"
        for scalar in unicodeScalars.prefix(64) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
                .surrogate:
                quoted += scalar.escaped(asASCII: true)
            default:
                quoted += scalar == "`" ? "\\u{60}" : String(scalar)
            }
        }
        return quoted + (unicodeScalars.dropFirst(64).isEmpty ? "`" : "…`")
    }
}

extension Int {
    /// Decimal digits in groups of three, such as `2,048`.
    var grouped: String {
        let digits = String(magnitude)
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
