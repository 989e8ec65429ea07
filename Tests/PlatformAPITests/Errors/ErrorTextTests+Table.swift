import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

// One row for each rule at least: the member at fault, the message, and a request that gets it.
extension `Error texts` {
    static let rules: [Case] = [
        .invalid(
            .participantUsers, "participants",
            "`participants` must be an array of user ids or `layer:///identities/{user}`, each of 1 to 128 characters and not `.` or `..`.",
            .init(line: "POST /conversations", body: #"{"participants":["ana",5]}"#)),
        .invalid(
            .participantCount, "participants",
            "`participants` names 26 users; a conversation has 1 to 25.",
            .init(line: "POST /conversations", body: #"{"participants":[\#(users(26))]}"#)),
        .invalid(
            .participantCountAfterPatch, "participants",
            "`participants` would name 26 users after this patch; a conversation may have at most 25.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"participants","value":[\#(users(26))]}"#)),
        .invalid(
            .recipientUsers, "recipients",
            "`recipients` must be an array of the recipients: user ids or `layer:///identities/{user}`, each of 1 to 128 characters and not `.` or `..`.",
            .init(line: "POST /announcements", body: #"{"recipients":"everyone"}"#)),
        .invalid(
            .recipientCount, "recipients",
            "`recipients` names 0 users; 1 to 10,000 are allowed in one request.",
            .init(line: "POST /notifications", body: #"{"recipients":[]}"#)),
        .invalid(
            .followingUsers, "following",
            "The body (`following`) must be an array of the users to follow: user ids or `layer:///identities/{user}`, each of 1 to 128 characters and not `.` or `..`.",
            .init(line: "POST /users/ana/following", body: "[null]")),
        .invalid(
            .followingCount, "following",
            "The body (`following`) names 10,001 users; at most 10,000 can be followed in one request.",
            .init(line: "POST /users/ana/following", body: #"[\#(users(10_001))]"#)),
        .invalid(
            .blockedUser, "user_id",
            "`user_id` must be the id of the user to block, 1 to 128 characters and not `.` or `..`.",
            .init(line: "POST /users/ana/blocks", body: #"{"user_id":".."}"#)),
        .invalid(
            .blockCount, "user_id",
            "This change of `user_id` would make the list of blocked users 10,001 long; at most 10,000 are allowed.",
            .init(
                line: "POST /users/ana/blocks",
                body: #"{"user_id":"bo"}"#,
                prepare: blockMany)),
        .invalid(
            .distinct, "distinct",
            "`distinct` must be `true` or `false`.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"distinct":"yes"}"#)),
        .invalid(
            .conversationID, "id",
            "`id` must be a UUID or `layer:///conversations/{uuid}`.",
            .init(line: "POST /conversations", body: #"{"participants":["ana"],"id":"x"}"#)),
        .invalid(
            .metadataObject, "metadata",
            "`metadata` must be an object of strings and objects.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"metadata":"x"}"#)),
        .invalid(
            .metadataValue, "metadata",
            "`metadata.a.b` must be a string or an object; other types are not stored in metadata.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"metadata":{"a":{"b":5}}}"#)),
        .invalid(
            .metadataTextSize, "metadata.a",
            "`metadata.a.b` is 2,300 bytes; the value of a key may have at most 2,048 bytes.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"metadata.a","value":{"b":"\#(text(2300))"}}"#
            )),
        .invalid(
            .metadataKey, "metadata",
            "The key `b c` in `metadata.a` contains ` `; keys of metadata have ASCII letters, digits, `-` and `_` only.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"metadata":{"a":{"b c":"x"}}}"#)),
        .invalid(
            .metadataKey, "metadata.",
            "`metadata` has an empty key; keys of metadata have ASCII letters, digits, `-` and `_` only.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"metadata.","value":"x"}"#)),
        .invalid(
            .metadataDepth, "metadata",
            "`metadata.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a…` is too deep; metadata may have 32 levels of objects below its root.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"metadata":\#(nested(34))}"#)),
        .invalid(
            .metadataSize, "metadata",
            "`metadata` is 281,291 bytes as compact JSON; metadata may have at most 262,144 bytes in all.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"metadata":{\#(big)}}"#)),
        .invalid(
            .messageID, "id",
            "`id` must be a UUID or `layer:///messages/{uuid}`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"}],"id":"x"}"#
            )),
        .invalid(
            .messageIDTwice, "id",
            "`id` must be different for each message of a batch.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"[{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"x"}],"id":"00000000-0000-0000-0000-000000000001"},{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"x"}],"id":"00000000-0000-0000-0000-000000000001"}]"#,
                version: "2.0")),
        .invalid(
            .batchCount, "messages",
            "`messages` must be an array of 1 to 12 messages; this one has 13.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"[\#(repeated(13, "5"))]"#,
                version: "2.0")),
        .invalid(
            .batchElement, "messages",
            "Each element of `messages` must be an object.",
            .init(line: "POST /conversations/{C}/messages", body: "[5]", version: "2.0")),
        .invalid(
            .partCount, "parts",
            "`parts` must be an array of 1 to 1,000 parts; this one has 0.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"ana"},"parts":[]}"#)),
        .invalid(
            .partCount, "parts",
            "`parts` must be an array of 1 to 1,000 parts.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"ana"},"parts":"x"}"#)),
        .invalid(
            .partObject, "parts",
            "Each element of `parts` must be an object.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"ana"},"parts":[5]}"#)),
        .invalid(
            .partsSize, "parts",
            "`parts` have 2,147,483,649 bytes together; a message may have at most 2,147,483,648 bytes.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"},{"mime_type":"a/b","content":{"id":"layer:///content/00000000-0000-0000-0000-000000000009"}}]}"#,
                prepare: uploadLargest)),
        .invalid(
            .partType, "parts.mime_type",
            "`parts.mime_type` must be a media type such as `text/plain`, without U+0000.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"text","body":"x"}]}"#)),
        .invalid(
            .partBody, "parts.body",
            "`parts.body` must be a string; bytes are sent in base64 with `encoding`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":5}]}"#)),
        .invalid(
            .partBodySize, "parts.body",
            "`parts.body` is 3,100 bytes; parts above 2,048 bytes must be uploaded as content (POST …/content).",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"\#(text(3100))"}]}"#
            )),
        .invalid(
            .partBase64, "parts.body",
            "`parts.body` must be valid base64, because `encoding` says so.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"é","encoding":"base64"}]}"#
            )),
        .invalid(
            .partEncoding, "parts.encoding",
            "`parts.encoding` must be `base64`, or absent for text.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x","encoding":"gzip"}]}"#
            )),
        .invalid(
            .partContent, "parts.content",
            "`parts.content` must be an object whose `id` is `layer:///content/{uuid}`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","content":"x"}]}"#)),
        .invalid(
            .partContentSize, "parts.content",
            "`parts.content` must have a `size` that is a whole number of bytes from 0, or none.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","content":{"id":"00000000-0000-0000-0000-000000000001","size":-1}}]}"#
            )),
        .invalid(
            .partContentUnknown, "parts.content",
            "`parts.content` must name a content of this conversation or of no conversation yet, whose upload is complete.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","content":{"id":"00000000-0000-0000-0000-000000000001"}}]}"#
            )),
        .invalid(
            .partID, "parts.id",
            "`parts.id` must be a UUID or `layer:///messages/{uuid}/parts/{uuid}`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x","id":"x"}]}"#
            )),
        .invalid(
            .partIDTwice, "parts.id",
            "`parts.id` must be different for each part of a message.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x","id":"00000000-0000-0000-0000-000000000001"},{"mime_type":"a/b","body":"x","id":"00000000-0000-0000-0000-000000000001"}]}"#
            )),
        .invalid(
            .newPartIndex, "parts.id",
            "`parts.id` of a new part must be a UUID; a number names a part that exists.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x","id":"0"}]}"#
            )),
        .invalid(
            .unknownPartIndex, "parts.id",
            "`parts.id` names a part number that the message does not have; leave it out for a new part.",
            .init(
                line: "PUT /conversations/{C}/messages/{M}/parts",
                body: #"[{"mime_type":"a/b","body":"x","id":"7"}]"#,
                version: "3.0")),
        .invalid(
            .senderObject, "sender",
            "`sender` must be an object with `user_id` or `name`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":5,"parts":[{"mime_type":"a/b","body":"x"}]}"#)),
        .invalid(
            .senderChoice, "sender",
            "`sender` must have `user_id` or `name`, not both.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana","name":"Ana"},"parts":[{"mime_type":"a/b","body":"x"}]}"#
            )),
        .invalid(
            .senderUser, "sender.user_id",
            "`sender.user_id` must be the id of the sending user, 1 to 128 characters and not `.` or `..`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":5},"parts":[{"mime_type":"a/b","body":"x"}]}"#)),
        .invalid(
            .senderParticipant, "sender.user_id",
            "`sender.user_id` must be a current participant of the conversation; a service sends with `sender.name`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"stranger"},"parts":[{"mime_type":"a/b","body":"x"}]}"#
            )),
        .invalid(
            .senderName, "sender.name",
            "`sender.name` must be a string of 1 to 128 characters without U+0000.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"name":""},"parts":[{"mime_type":"a/b","body":"x"}]}"#)),
        .invalid(
            .senderNameGone, "sender.name",
            "`sender.name` is not accepted from version 2.0 on; send as a user with `sender_id`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"name":"Shop"},"parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .senderID, "sender_id",
            "`sender_id` must be a user id or `layer:///identities/{user}`, of 1 to 128 characters and not `.` or `..`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender_id":5,"parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .senderIdentity, "sender_id",
            "`sender_id` must be a current participant or a user with an identity (POST …/users/{user}/identity).",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender_id":"stranger","parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .scheduleObject, "schedule",
            "`schedule` must be an object with `delay_in_seconds`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"}],"schedule":5}"#
            )),
        .invalid(
            .scheduleDelay, "schedule.delay_in_seconds",
            "`schedule.delay_in_seconds` must be a number from 1 to 300.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"}],"schedule":{"delay_in_seconds":301}}"#
            )),
        .invalid(
            .scheduleTyping, "schedule.typing_indicator_in_seconds",
            "`schedule.typing_indicator_in_seconds` must be a number from 1 to the value of `delay_in_seconds`, or 0 for none.",
            .init(
                line: "POST /conversations/{C}/messages",
                body:
                    #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"}],"schedule":{"delay_in_seconds":5,"typing_indicator_in_seconds":6}}"#
            )),
        .invalid(
            .receiptType, "type",
            "`type` must be `delivery` or `read`.",
            .init(line: "POST /users/ana/messages/{M}/receipts", body: #"{"type":"seen"}"#)),
        .invalid(
            .readPosition, "position",
            "`position` must be a whole number from 0, the `position` of a message, or `null` for all.",
            .init(
                line: "POST /users/ana/conversations/{C}/mark_all_read",
                body: #"{"position":-1}"#)),
        .invalid(
            .announcementID, "id",
            "`id` must be a UUID or `layer:///announcements/{uuid}`.",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender":{"name":"Shop"},"parts":[{"mime_type":"a/b","body":"x"}],"id":"x"}"#
            )),
        .invalid(
            .announcementSenderUser, "sender.user_id",
            "`sender.user_id` is not accepted in an announcement before version 2.0; use `sender.name`.",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"}]}"#
            )),
        .invalid(
            .announcementSenderIdentity, "sender_id",
            "`sender_id` must be a user with an identity, because announcements have no participants (POST …/users/{user}/identity).",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender_id":"stranger","parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .announcementContent, "parts.content",
            "`parts.content` is not accepted in an announcement; send at most 2,048 bytes in `parts.body`.",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender":{"name":"Shop"},"parts":[{"mime_type":"a/b","content":{"id":"00000000-0000-0000-0000-000000000001"}}]}"#
            )),
        .invalid(
            .announcementBodySize, "parts.body",
            "`parts.body` is 3,100 bytes; a part of an announcement may have at most 2,048 bytes.",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender":{"name":"Shop"},"parts":[{"mime_type":"a/b","body":"\#(text(3100))"}]}"#
            )),
        .invalid(
            .notificationObject, "notification",
            #"`notification` must be an object such as `{"text":"Hello"}`."#,
            .init(
                line: "POST /notifications",
                body: #"{"recipients":["ana"],"notification":"x"}"#)),
        .invalid(
            .notificationText, "notification",
            "`notification.title` must be a string, as all texts of a notification.",
            .init(
                line: "POST /notifications",
                body: #"{"recipients":["ana"],"notification":{"title":5}}"#)),
        .invalid(
            .notificationTexts, "notification",
            "`notification.loc-args` must be an array of strings.",
            .init(
                line: "POST /notifications",
                body: #"{"recipients":["ana"],"notification":{"loc-args":"x"}}"#)),
        .invalid(
            .notificationData, "notification",
            "`notification.recipients.data` must be an object of strings.",
            .init(
                line: "POST /notifications",
                body:
                    #"{"recipients":["ana"],"notification":{"recipients":{"bo":{"data":{"a":5}}}}}"#
            )),
        .invalid(
            .notificationAPNs, "notification",
            "`notification.apns` must be an object; its `launch-image` must be a string.",
            .init(
                line: "POST /notifications",
                body: #"{"recipients":["ana"],"notification":{"apns":{"launch-image":5}}}"#)),
        .invalid(
            .notificationRecipients, "notification",
            "The `recipients` of `notification` must be an array of objects with `recipient` or `user_id`, or an object keyed by user id.",
            .init(
                line: "POST /notifications",
                body: #"{"recipients":["ana"],"notification":{"recipients":[5]}}"#)),
        .invalid(
            .identityText, "first_name",
            "`first_name` must be a string.",
            .init(
                line: "POST /users/cy/identity",
                body: #"{"display_name":"Cy","first_name":5}"#)),
        .invalid(
            .identityLength, "phone_number",
            "`phone_number` has 33 characters; at most 32 are allowed.",
            .init(
                line: "POST /users/cy/identity",
                body: #"{"display_name":"Cy","phone_number":"\#(text(33))"}"#)),
        .invalid(
            .displayNameEmpty, "display_name",
            "`display_name` must have at least one character.",
            .init(line: "POST /users/cy/identity", body: #"{"display_name":""}"#)),
        .invalid(
            .identityNull, "display_name",
            "`display_name` must not contain U+0000.",
            .init(line: "POST /users/cy/identity", body: #"{"display_name":"a\u0000"}"#)),
        .invalid(
            .identityKind, "type",
            "`type` must be `user` or `bot`.",
            .init(
                line: "POST /users/cy/identity",
                body: #"{"display_name":"Cy","type":"seen"}"#)),
        .invalid(
            .identityMetadata, "metadata",
            "`metadata` of an identity must be an object of strings.",
            .init(
                line: "POST /users/cy/identity",
                body: #"{"display_name":"Cy","metadata":"x"}"#)),
        .invalid(
            .identityMetadataValue, "metadata",
            "`metadata.a` of an identity must be a string.",
            .init(
                line: "POST /users/cy/identity",
                body: #"{"display_name":"Cy","metadata":{"a":5}}"#)),
        .invalid(
            .identityMetadataCount, "metadata",
            "`metadata` has 17 keys; the metadata of an identity may have at most 16.",
            .init(
                line: "POST /users/cy/identity",
                body: #"{"display_name":"Cy","metadata":{\#(keys(17))}}"#)),
        .invalid(
            .identityMetadataPath, "metadata.a.b",
            "`metadata.a.b` names more than one key; the metadata of an identity has no nested objects.",
            .init(
                line: "PATCH /users/ana/identity",
                body: #"{"operation":"set","property":"metadata.a.b","value":"x"}"#)),
        .invalid(
            .badgeCount, "external_unread_count",
            "`external_unread_count` must be a whole number from 0 to 68,719,476,735.",
            .init(line: "PUT /users/ana/badge", body: #"{"external_unread_count":-1}"#)),
        .invalid(
            .patchVerb, "operation",
            "`operation` must be `add`, `remove`, `set` or `delete`; `replace` is not known.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"replace","property":"metadata"}"#)),
        .invalid(
            .patchProperty, "property",
            "`property` must be a string such as `metadata.topic`.",
            .init(line: "PATCH /conversations/{C}", body: #"{"operation":"set","property":5}"#)),
        .invalid(
            .patchIndex, "participants",
            "`index` is not supported; a change of `participants` names its operand in `value` or `id`.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"add","property":"participants","index":0}"#)),
        .invalid(
            .conversationProperty, "property",
            "`property` of a conversation's patch must be `participants`, `metadata` or a path such as `metadata.topic`; `distinct` is not known.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"distinct","value":true}"#)),
        .invalid(
            .identityProperty, "property",
            "`property` of an identity's patch must be a member such as `display_name`, `metadata` or a path such as `metadata.team`; `nick` is not known.",
            .init(
                line: "PATCH /users/ana/identity",
                body: #"{"operation":"set","property":"nick","value":"x"}"#)),
        .invalid(
            .userProperty, "property",
            "`property` of a user's patch must be `blocks` or `suspended`; `nick` is not known.",
            .init(
                line: "PATCH /users/ana",
                body: #"{"operation":"set","property":"nick","value":"x"}"#)),
        .invalid(
            .badgeProperty, "property",
            "`property` of a badge's patch must be `external_unread_count`; `badge` is not known.",
            .init(
                line: "PATCH /users/ana/badge",
                body: #"{"operation":"set","property":"badge","value":5}"#)),
        .invalid(
            .applicationProperty, "property",
            "`property` of an application's patch must be `session_ttl_in_seconds`; `name` is not known.",
            .init(line: "PATCH ", body: #"{"operation":"set","property":"name","value":"x"}"#)),
        .invalid(
            .verbOfUsers, "participants",
            "The users of `participants` are changed by `add`, `remove` or `set`; `delete` does not apply.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"delete","property":"participants"}"#)),
        .invalid(
            .verbOfMetadata, "metadata.a",
            "The metadata at `metadata.a` is changed by `set` or `delete`; `add` and `remove` do not apply.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"add","property":"metadata.a","value":"x"}"#)),
        .invalid(
            .verbOfValue, "first_name",
            "The value of `first_name` is changed by `set` only.",
            .init(
                line: "PATCH /users/ana/identity",
                body: #"{"operation":"delete","property":"first_name"}"#)),
        .invalid(
            .operandText, "value",
            "`value` must be a string to set `first_name`.",
            .init(
                line: "PATCH /users/ana/identity",
                body: #"{"operation":"set","property":"first_name","value":5}"#)),
        .invalid(
            .operandUser, "value",
            "`value` must be a string that names one user to add to or remove from `participants`.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"add","property":"participants","value":5}"#)),
        .invalid(
            .operandUsers, "value",
            "`value` must be an array of strings that name users to set `participants`.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"participants","value":"bo"}"#)),
        .invalid(
            .operandUserID, "participants",
            "`participants` can be changed by one user only: a user id or `layer:///identities/{user}`, of 1 to 128 characters and not `.` or `..`.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"add","property":"participants","value":"."}"#)),
        .invalid(
            .operandUserIDs, "participants",
            "`participants` can be set to users only: user ids or `layer:///identities/{user}`, each of 1 to 128 characters and not `.` or `..`.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"participants","value":["."]}"#)),
        .invalid(
            .operandUserCount, "participants",
            "This patch names 1,001 users in `participants`; at most 1,000 are allowed in one patch.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"set","property":"participants","value":[\#(users(1001))]}"#)),
        .invalid(
            .operandIdentityMetadata, "value",
            "`value` must be an object of strings to set `metadata`.",
            .init(
                line: "PATCH /users/ana/identity",
                body: #"{"operation":"set","property":"metadata","value":"x"}"#)),
        .invalid(
            .operandSuspended, "value",
            "`value` must be `true` or `false` to set `suspended`.",
            .init(
                line: "PATCH /users/ana",
                body: #"{"operation":"set","property":"suspended","value":1}"#)),
        .invalid(
            .operandNumber, "value",
            "`value` must be a number to set `external_unread_count`.",
            .init(
                line: "PATCH /users/ana/badge",
                body: #"{"operation":"set","property":"external_unread_count","value":"5"}"#)),
        .invalid(
            .sessionLifetime, "session_ttl_in_seconds",
            "`session_ttl_in_seconds` must be a whole number from 30 to 31,536,000.",
            .init(
                line: "PATCH ",
                body: #"{"operation":"set","property":"session_ttl_in_seconds","value":29}"#)),
        .invalid(
            .webhookVersion, "version",
            #"`version` must be `"1.0"`, `"2.0"` or `"3.0"`."#,
            .init(line: "POST /webhooks", body: #"{"version":"4.0"}"#, accept: webhooks)),
        .invalid(
            .webhookEvents, "events",
            "`events` must be an array with at least one name of an event.",
            .init(
                line: "POST /webhooks",
                body: #"{"version":"1.0","target_url":"https://hooks.example.org/","events":[]}"#,
                accept: webhooks)),
        .invalid(
            .webhookEventName, "events",
            "`message.seen` in `events` is no event of this version; known are message.sent, message.delivered, message.read, message.deleted, conversation.created, conversation.updated.participants, conversation.updated.metadata, conversation.merged, conversation.deleted.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://hooks.example.org/","events":["message.seen"]}"#,
                accept: webhooks)),
        .invalid(
            .webhookSecret, "secret",
            "`secret` must be a string of 1 to 1,024 characters without U+0000.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://hooks.example.org/","events":["message.sent"],"secret":""}"#,
                accept: webhooks)),
        .invalid(
            .webhookTarget, "target_url",
            "`target_url` must be an absolute `https://` URL of a public host, unless the settings `webhooks.allow_http` and `webhooks.allowed_networks` of this server allow others.",
            .init(
                line: "POST /webhooks",
                body: #"{"version":"1.0","target_url":"http://127.0.0.1/"}"#,
                accept: webhooks)),
        .invalid(
            .webhookTargetLength, "target_url",
            "`target_url` may have at most 2,048 characters.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://hooks.example.org/\#(text(2048))","events":["message.sent"],"secret":"s"}"#,
                accept: webhooks)),
        .invalid(
            .webhookTargetHost, "target_url",
            "`target_url` names the host `inside.example.org`, which leads to an address that is not public; the settings `webhooks.allowed_networks` and, for `http://`, `webhooks.allow_http` of this server can allow it.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://inside.example.org/","events":["message.sent"],"secret":"s"}"#,
                accept: webhooks)),
        .invalid(
            .webhookConfig, "config",
            "`config` must be an object of strings without nested objects.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://hooks.example.org/","events":["message.sent"],"secret":"s","config":{"a":5}}"#,
                accept: webhooks)),
        .invalid(
            .webhookConfigCount, "config",
            "`config` has 101 members; at most 100 are allowed.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://hooks.example.org/","events":["message.sent"],"secret":"s","config":{\#(keys(101))}}"#,
                accept: webhooks)),
        .invalid(
            .webhookConfigSize, "config",
            "`config` has 2,049 bytes in names and values; at most 2,048 are allowed.",
            .init(
                line: "POST /webhooks",
                body:
                    #"{"version":"1.0","target_url":"https://hooks.example.org/","events":["message.sent"],"secret":"s","config":{"a":"\#(text(2048))"}}"#,
                accept: webhooks)),
        .invalid(
            .secretOverlap, "keep_for_seconds",
            "`keep_for_seconds` must be a whole number from 0 to 2,592,000.",
            .init(
                line: "POST /webhooks/00000000-0000-0000-0000-000000000001/rotate_secret",
                body: #"{"secret":"s","keep_for_seconds":-1}"#,
                accept: webhooks)),
        .invalid(
            .replayAfter, "after",
            "`after` must be a position of the event log: a whole number from 0.",
            .init(
                line: "POST /webhooks/00000000-0000-0000-0000-000000000001/replay",
                body: #"{"after":-1}"#,
                accept: webhooks)),
        .invalid(
            .replayBefore, "before",
            "`before` must be a position of the event log above `after`.",
            .init(
                line: "POST /webhooks/00000000-0000-0000-0000-000000000001/replay",
                body: #"{"after":5,"before":5}"#,
                accept: webhooks)),
        .invalid(
            .publicKey, "public_key",
            "`public_key` must be a string without U+0000.",
            .init(line: "PUT /export_security", body: #"{"public_key":5}"#)),
        .invalid(
            .rsaKey, "public_key",
            "`public_key` must be an RSA public key of at least 2,048 bits in PEM form.",
            .init(line: "PUT /export_security", body: #"{"public_key":"x"}"#)),
        .invalid(
            .exportInterval, "interval",
            "`interval` must be `daily` or `disabled`.",
            .init(line: "PUT /export_schedule", body: #"{"interval":"hourly"}"#)),
        .invalid(
            .exportEvents, "events",
            "`events` must be an array of names of events, with at least one for daily exports.",
            .init(line: "PUT /export_schedule", body: #"{"interval":"daily","events":[]}"#)),
        .invalid(
            .exportEventName, "events",
            "`message.seen` in `events` is no event of exports; known are message.sent, message.delivered, message.read, message.deleted, conversation.created, conversation.updated.participants, conversation.updated.metadata, conversation.merged, conversation.deleted.",
            .init(
                line: "PUT /export_schedule",
                body: #"{"interval":"daily","events":["message.seen"]}"#)),
        .invalid(
            .pageSize, "page_size",
            "`page_size` must be a whole number from 1; larger pages than allowed are cut.",
            .init(line: "GET /users/ana/conversations?page_size=0")),
        .invalid(
            .pageStart, "from_id",
            "`from_id` must be the id of an item of this list: a UUID or a `layer:///` id.",
            .init(line: "GET /users/ana/conversations?from_id=5")),
        .invalid(
            .pageStartUser, "from_id",
            "`from_id` must be the user after which the page starts: a user id or `layer:///identities/{user}`, of 1 to 128 characters and not `.` or `..`.",
            .init(line: "GET /users/ana/following?from_id=.")),
        .invalid(
            .sortOrder, "sort_by",
            "`sort_by` must be `created_at` or `last_message`.",
            .init(line: "GET /users/ana/conversations?sort_by=name")),
        .invalid(
            .truth, "distinct",
            "`distinct` must be `true` or `false` in the query.",
            .init(line: "GET /conversations?distinct=maybe")),
        .invalid(
            .exactWithoutParticipants, "exact",
            "`exact` needs the parameter `participants`.",
            .init(line: "GET /conversations?exact=true")),
        .invalid(
            .time, "created_after",
            "`created_after` must be a time such as `2026-05-02T14:34:27Z`.",
            .init(line: "GET /conversations?created_after=today")),
        .invalid(
            .userFilter, "sender",
            "`sender` must name one user: a user id or `layer:///identities/{user}`, of 1 to 128 characters and not `.` or `..`.",
            .init(line: "GET /conversations/{C}/messages?sender=.")),
        .invalid(
            .participantFilter, "participants",
            "`participants` must name users, separated by commas: user ids or `layer:///identities/{user}`, each of 1 to 128 characters and not `.` or `..`.",
            .init(line: "GET /conversations?participants=ana,")),
        .invalid(
            .metadataPath, "metadata.",
            "`metadata.` must be a path with a key after each dot, such as `metadata.topic`.",
            .init(line: "GET /conversations?metadata.=x")),
        .invalid(
            .mediaRange, "mime_type",
            "`mime_type` must be a media type or a range such as `image/*`.",
            .init(line: "GET /conversations/{C}/messages?mime_type=text")),
        .invalid(
            .transferStatus, "transfer_status",
            "`transfer_status` must be `awaiting_upload`, `uploading`, `ready`, `failed` or `expired`.",
            .init(line: "GET /conversations/{C}/messages?transfer_status=done")),
        .invalid(
            .searchText, "q",
            "`q` must have at least one character to search for.",
            .init(line: "GET /users?q=")),
        .invalid(
            .deliveryState, "state",
            "`state` must be `pending`, `delivered` or `dead`.",
            .init(
                line: "GET /webhooks/00000000-0000-0000-0000-000000000001/deliveries?state=done",
                accept: webhooks)),
        .invalid(
            .contentChoice, "contents",
            "`contents` must be `inline` or `none`.",
            .init(line: "GET /export?contents=all")),
        .invalid(
            .contentInclude, "include",
            "`include` must be `transfer`.",
            .init(
                line:
                    "GET /conversations/{C}/content/00000000-0000-0000-0000-000000000001?include=all"
            )),
        .invalid(
            .contentDownload, "dl",
            "`dl` must be `1`.",
            .init(
                line: "GET /conversations/{C}/content/00000000-0000-0000-0000-000000000001?dl=2")),
        .invalid(
            .inlineSize, "inline_max_size",
            "`inline_max_size` must be a whole number of bytes from 0 to 1,048,576.",
            .init(line: "GET /conversations/{C}/messages?inline_max_size=x")),
        .invalid(
            .inlineTypes, "inline_types",
            "`inline_types` must be media types or ranges such as `image/*`, separated by commas; `image` is not known.",
            .init(line: "GET /conversations/{C}/messages?inline_types=image")),
        .invalid(
            .inlineTypeCount, "inline_types",
            "`inline_types` has 33 media types; at most 32 are allowed.",
            .init(
                line: #"GET /conversations/{C}/messages?inline_types=\#(repeated(33, "a/b"))"#)),
        .invalid(
            .deletionMode, "mode",
            "`mode` must be `all_participants` or `my_devices`.",
            .init(line: "DELETE /users/ana/messages/{M}?mode=mine")),
        .invalid(
            .deletionLeave, "leave",
            "`leave` must be `true` or `false` to delete a conversation.",
            .init(line: "DELETE /users/ana/conversations/{C}?mode=my_devices&leave=x")),
        .invalid(
            .logPosition, "as_of",
            "`as_of` must be a position of the event log in digits.",
            .init(line: "GET /conversations/{C}?as_of=-1")),
        .invalid(
            .logPositionBeyondEnd, "as_of",
            "`as_of` is beyond the end of the event log, which is 7.",
            .init(line: "GET /conversations/{C}?as_of=9999")),
        .invalid(
            .logPositionWithFilters, "as_of",
            "`as_of` cannot be combined with filters.",
            .init(line: "GET /conversations/{C}/messages?as_of=1&sender=ana")),
        .invalid(
            .eventLimit, "limit",
            "`limit` must be a whole number from 1; above 1,000 it is cut.",
            .init(line: "GET /events?limit=0")),
        .invalid(
            .eventWait, "wait",
            "`wait` must be a whole number of seconds from 0; above 60 it is cut.",
            .init(line: "GET /events?wait=x")),
        .invalid(
            .eventTypes, "types",
            "`types` must be types of events, separated by commas; `message.seen` is not known.",
            .init(line: "GET /events?types=message.seen")),
        .invalid(
            .eventParameterTwice, "limit",
            "`limit` may appear only once in the query.",
            .init(line: "GET /events?limit=1&limit=2")),
        .invalid(
            .lastEventID, "Last-Event-ID",
            "`Last-Event-ID` must be the `id` of an event of this log.",
            .init(
                line: "GET /events",
                accept: "text/event-stream",
                fields: [("Last-Event-ID", "x")])),
        .invalid(
            .uploadType, "Upload-Content-Type",
            "`Upload-Content-Type` must be a media type such as `image/png`.",
            .init(
                line: "POST /conversations/{C}/content",
                fields: [("Upload-Content-Type", "image"), ("Upload-Content-Length", "5")])),
        .invalid(
            .uploadLength, "Upload-Content-Length",
            "`Upload-Content-Length` must be a whole number of bytes from 0 to 2,147,483,648, in digits.",
            .init(
                line: "POST /conversations/{C}/content",
                fields: [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "x")])),
    ]

    /// Errors that are not about the value of a member.
    static let others: [Case] = [
        .other(
            401,
            "The request has no `Authorization` header; send `Authorization: Bearer {token}`.",
            .init(line: "GET /events", authorization: "")),
        .other(
            401,
            "The scheme of the `Authorization` header must be `Bearer`, followed by a token.",
            .init(line: "GET /events", authorization: "Basic x")),
        .other(
            401,
            "The `Authorization` header must be `Bearer`, one space and one token of at most 4,089 characters.",
            .init(line: "GET /events", authorization: "Bearer a b")),
        .other(
            401,
            "The token is unknown, revoked or expired.",
            .init(line: "GET /events", authorization: "Bearer {expired_token}")),
        .other(
            403,
            "The token has the scope `read`; this operation needs `write`.",
            .init(line: "POST /conversations", body: "{}", authorization: "Bearer {read_token}")),
        .other(
            405,
            "PUT is not offered here; the path offers GET, HEAD, POST, OPTIONS.",
            .init(line: "PUT /conversations", body: "{}")),
        .other(
            413,
            "The request body is too large: the limit here is 1,048,576 bytes; large parts of messages are uploaded as content (POST …/content).",
            .init(line: "POST /conversations", body: #"\#(text((1 << 20) + 1))"#)),
        .other(
            400,
            "The body is a form; send JSON with `Content-Type: application/json`.",
            .init(
                line: "POST /conversations",
                body: "participants=ana&distinct=true",
                contentType: "application/x-www-form-urlencoded")),
        .other(
            400,
            "The body is not valid JSON: byte 17: unexpected ']'.",
            .init(
                line: "POST /conversations", body: #"{"participants": ]}"#,
                contentType: "application/x-www-form-urlencoded")),
        .other(
            400,
            "The body is not valid JSON: byte 16: the document ends too early.",
            .init(line: "POST /conversations", body: #"{"participants":"#)),
        .other(
            400,
            "The body must be a JSON object.",
            .init(line: "POST /conversations", body: "[]")),
        .other(
            400,
            "The body must be a JSON array.",
            .init(line: "POST /users/ana/following", body: "{}")),
        .other(
            400,
            #"The body must be an array of operations such as {"operation":"set","property":"metadata.topic","value":"rent"}."#,
            .init(line: "PATCH /conversations/{C}", body: #""x""#)),
        .other(
            406,
            #"Invalid Content-Type header; must be application/vnd.layer-patch+json, with operations such as {"operation":"set","property":"metadata.topic","value":"rent"} instead of JSON Patch"#,
            .init(
                line: "PATCH /conversations/{C}",
                body: "[]",
                contentType: "application/json-patch+json")),
        .other(
            406,
            "Invalid Content-Type header; must be application/vnd.layer-patch+json",
            .init(line: "PATCH /conversations/{C}", body: "[]", contentType: "text/plain")),
        .other(
            422, property: "operation",
            #"Object is missing required member 'operation'; operations are such as {"operation":"set","property":"metadata.topic","value":"rent"}, not those of JSON Patch"#,
            .init(
                line: "PATCH /conversations/{C}",
                body: #"[{"op":"replace","path":"/metadata/topic","value":"rent"}]"#)),
        .other(
            422,
            "The last part of a message cannot be deleted; delete the message, or add a part first.",
            .init(line: "DELETE /conversations/{C}/messages/{M}/parts/0", version: "3.0")),
        .other(
            422,
            "Exports need a public key to be encrypted with; set one with PUT …/export_security.",
            .init(line: "POST /exports")),
        .other(
            422,
            "A historical export was requested less than 24 hours ago; request the next one later.",
            .init(line: "POST /exports", prepare: exportOnce)),
        .other(
            422, property: "parts.mime_typ",
            "`parts.mime_typ` is not known here; did you mean `mime_type`?",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender_id":"ana","parts":[{"mime_typ":"a/b","body":"x"}]}"#,
                version: "3.0",
                fields: [("Prefer", "handling=strict")])),
        .other(
            422, property: "colour",
            "`colour` is not known here; known are `participants`, `distinct`, `metadata`, `id`.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"colour":"red"}"#,
                version: "3.0",
                fields: [("Prefer", "handling=strict")])),
    ]

    // MARK: - What rows are made of

    private static let webhooks = "application/vnd.layer.webhooks+json; version=1.0"

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private static func repeated(_ count: Int, _ text: String) -> String {
        Array(repeating: text, count: count).joined(separator: ",")
    }

    private static func users(_ count: Int) -> String {
        (0..<count).map { number in "\"u\(number)\"" }.joined(separator: ",")
    }

    private static func keys(_ count: Int) -> String {
        (0..<count).map { number in "\"k\(number)\":\"x\"" }.joined(separator: ",")
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: #"{"a":"#, count: levels) + #""x""#
            + String(repeating: "}", count: levels)
    }

    /// More than 256 KiB in small strings.
    private static let big = (0..<140).map { number in "\"k\(number)\":\"\(text(2000))\"" }
        .joined(separator: ",")

    private static let blockMany: @Sendable (SampleApplication) async throws -> Void = { scene in
        let users = (0..<UserPatch.blockLimit).compactMap { number in UserID("u\(number)") }
        try await scene.world.store.patchUser(
            try #require(UserID("ana")), [.setBlocks(users)], in: scene.application)
    }

    /// A content of the largest size; its bytes are never read.
    private static let uploadLargest: @Sendable (SampleApplication) async throws -> Void = {
        scene in
        let conversation = scene.variables["C"].flatMap { id in Conversation.ID(uuid: id) }
        let id = try #require(Content.ID(uuid: "00000000-0000-0000-0000-000000000009"))
        _ = try await scene.world.store.finishUpload(
            Content(
                id: id, conversation: conversation, mimeType: "a/b",
                size: MessagingLimits().messageBytes,
                fileName: nil, sha256: [UInt8](repeating: 0, count: 32), crc32c: 0, md5: nil,
                sha512: nil, completedAt: Timestamp(milliseconds: 1), origin: nil),
            in: scene.application)
    }

    private static let exportOnce: @Sendable (SampleApplication) async throws -> Void = { scene in
        try await scene.world.store.setExportKey(
            ExportKey(pem: "x", der: [1]), in: scene.application)
        _ = try await scene.world.store.requestExport(in: scene.application)
    }
}

extension `Error texts`.Case {
    fileprivate static func invalid(
        _ rule: ValidationRule, _ property: String, _ message: String,
        _ request: `Error texts`.Sample
    ) -> Self {
        Self(rule: rule, status: 422, property: property, message: message, request: request)
    }

    fileprivate static func other(
        _ status: Int, property: String? = nil, _ message: String, _ request: `Error texts`.Sample
    ) -> Self {
        Self(rule: nil, status: status, property: property, message: message, request: request)
    }
}
