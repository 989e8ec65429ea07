import Messaging
import Testing

@testable import PlatformAPI

extension `Error texts` {
    /// Rules of settings, webhooks and exports, and of the parameters of lists, events and uploads.
    static let queryRules: [Case] = [
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
            "`target_url` must be an absolute `https://` URL of a public host, without user name and password, unless the settings `webhooks.allow_http` and `webhooks.allowed_networks` of this server allow others.",
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
            "`target_url` names the host `inside.example.org`, whose address is not public; the settings `webhooks.allowed_networks` and, for `http://`, `webhooks.allow_http` of this server can allow it.",
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
            "`from_id` must be the user after which the page starts: a user id or `layer:///identities/{user}`, of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(line: "GET /users/ana/following?from_id=.")),
        .invalid(
            .sortOrder, "sort_by",
            "`sort_by` must be `created_at` or `last_message`.",
            .init(line: "GET /users/ana/conversations?sort_by=name")),
        .invalid(
            .participantState, "state",
            "`state` must be `current` or `former`.",
            .init(line: "GET /conversations/{C}/participants?state=left")),
        .invalid(
            .boolean, "distinct",
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
            "`sender` must name one user: a user id or `layer:///identities/{user}`, of 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(line: "GET /conversations/{C}/messages?sender=.")),
        .invalid(
            .participantFilter, "participants",
            "`participants` must name users, separated by commas: user ids or `layer:///identities/{user}`, each of 1 to 128 characters without U+0000 and not `.` or `..`.",
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
            .conversationInclude, "include",
            "`include` must be `details`, and cannot be combined with `as_of`.",
            .init(line: "GET /conversations?include=all")),
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
            .erasureMode, "mode", "`mode` must be `erase`.",
            .init(line: "DELETE /users/ana?mode=all_participants")),
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
            .deliveryInclude, "include", "`include` must be `attempts`.",
            .init(
                line: "GET /webhooks/00000000-0000-0000-0000-000000000001/deliveries?include=all",
                accept: webhooks)),
        .invalid(
            .listCount, "count", "`count` must be `none`.",
            .init(line: "GET /conversations?count=all")),
        .invalid(
            .recipientStatus, "recipient_status", "`recipient_status` must be `counts`.",
            .init(line: "GET /conversations/{C}/messages?recipient_status=all")),
        .invalid(
            .messageNumber, "from",
            "`from` must be the number of a message in its conversation, from 1.",
            .init(line: "GET /conversations/{C}/receipts?from=0")),
        .invalid(
            .eventOrder, "order", "`order` must be `asc` or `desc`.",
            .init(line: "GET /events?order=up")),
        .invalid(
            .eventOrderOfStream, "order", "`order` must be `asc` for a stream.",
            .init(line: "GET /events?order=desc", accept: "text/event-stream")),
        .invalid(
            .needsAscendingOrder, "after",
            "`after` cannot be combined with `before` or `order=desc`.",
            .init(line: "GET /events?order=desc&after=1")),
        .invalid(
            .needsDescendingOrder, "before", "`before` needs the parameter `order=desc`.",
            .init(line: "GET /events?order=asc&before=9")),
        .invalid(
            .eventTimeAlone, "at", "`at` cannot be combined with `after` or `before`.",
            .init(line: "GET /events?at=2026-05-02T14:34:27Z&after=1")),
        .invalid(
            .conversationFilter, "conversation",
            "`conversation` must name one conversation: a UUID or `layer:///conversations/{UUID}`.",
            .init(line: "GET /events?conversation=x")),
        .invalid(
            .eventInclude, "include", "`include` must be `text`.",
            .init(line: "GET /events?include=all")),
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
            "`Upload-Content-Length` must be a whole number of bytes, in digits.",
            .init(
                line: "POST /conversations/{C}/content",
                fields: [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "x")])),
        .invalid(
            .uploadLengthLimit, "Upload-Content-Length",
            "`Upload-Content-Length` is above the limit of 2,147,483,648 bytes for one upload; send less, or split the content.",
            .init(
                line: "POST /conversations/{C}/content",
                fields: [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "2147483649")])),
    ]
}
