import Messaging
import Testing

@testable import PlatformAPI

extension `Error texts` {
    /// Rules of users, conversations and metadata, and of the patches that change them.
    static let conversationRules: [Case] = [
        .invalid(
            .participantUsers, "participants",
            "`participants` must be an array of user ids or `layer:///identities/{user}`, each of 1 to 128 characters without U+0000 and not `.` or `..`.",
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
            "`recipients` must be an array of the recipients: user ids or `layer:///identities/{user}`, each of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(line: "POST /announcements", body: #"{"recipients":"everyone"}"#)),
        .invalid(
            .recipientCount, "recipients",
            "`recipients` names 0 users; 1 to 10,000 are allowed in one request.",
            .init(line: "POST /notifications", body: #"{"recipients":[]}"#)),
        .invalid(
            .followingUsers, "following",
            "The body (`following`) must be an array of the users to follow: user ids or `layer:///identities/{user}`, each of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(line: "POST /users/ana/following", body: "[null]")),
        .invalid(
            .followingCount, "following",
            "The body (`following`) names 10,001 users; at most 10,000 can be followed in one request.",
            .init(line: "POST /users/ana/following", body: #"[\#(users(10_001))]"#)),
        .invalid(
            .blockedUser, "user_id",
            "`user_id` must be the id of the user to block, 1 to 128 characters without U+0000 and not `.` or `..`.",
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
            "`participants` can be changed by one user only: a user id or `layer:///identities/{user}`, of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(
                line: "PATCH /conversations/{C}",
                body: #"{"operation":"add","property":"participants","value":"."}"#)),
        .invalid(
            .operandUserIDs, "participants",
            "`participants` can be set to users only: user ids or `layer:///identities/{user}`, each of 1 to 128 characters without U+0000 and not `.` or `..`.",
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
    ]
}
