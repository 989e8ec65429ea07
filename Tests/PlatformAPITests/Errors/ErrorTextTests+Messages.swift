import Messaging
import Testing

@testable import PlatformAPI

extension `Error texts` {
    /// Rules of messages, announcements and notifications.
    static let messageRules: [Case] = [
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
            "`sender.user_id` must be the id of the sending user, 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":5},"parts":[{"mime_type":"a/b","body":"x"}]}"#)),
        .invalid(
            .senderParticipant, "sender.user_id",
            "`sender.user_id` must be a current participant of the conversation; a service sends with `sender.name`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender":{"user_id":"outsider"},"parts":[{"mime_type":"a/b","body":"x"}]}"#
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
                body: #"{"sender":{"name":"Billing"},"parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .senderID, "sender_id",
            "`sender_id` must be a user id or `layer:///identities/{user}`, of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender_id":5,"parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .senderIdentity, "sender_id",
            "`sender_id` must be a current participant or a user with an identity (POST …/users/{user}/identity).",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender_id":"outsider","parts":[{"mime_type":"a/b","body":"x"}]}"#,
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
                    #"{"recipients":["ana"],"sender":{"name":"Billing"},"parts":[{"mime_type":"a/b","body":"x"}],"id":"x"}"#
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
                    #"{"recipients":["ana"],"sender_id":"outsider","parts":[{"mime_type":"a/b","body":"x"}]}"#,
                version: "2.0")),
        .invalid(
            .announcementContent, "parts.content",
            "`parts.content` is not accepted in an announcement; send at most 2,048 bytes in `parts.body`.",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender":{"name":"Billing"},"parts":[{"mime_type":"a/b","content":{"id":"00000000-0000-0000-0000-000000000001"}}]}"#
            )),
        .invalid(
            .announcementBodySize, "parts.body",
            "`parts.body` is 3,100 bytes; a part of an announcement may have at most 2,048 bytes.",
            .init(
                line: "POST /announcements",
                body:
                    #"{"recipients":["ana"],"sender":{"name":"Billing"},"parts":[{"mime_type":"a/b","body":"\#(text(3100))"}]}"#
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
            .notificationRecipientUser, "notification",
            "Each of the `recipients` of `notification` must name a user by a user id or `layer:///identities/{user}`, of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(
                line: "POST /notifications",
                body: #"{"recipients":["ana"],"notification":{"recipients":[{"recipient":"."}]}}"#)),
    ]
}
