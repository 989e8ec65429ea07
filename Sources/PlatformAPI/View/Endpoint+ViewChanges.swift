import HTTP
import JSON
import MessagingWire

extension Endpoint {
    /// What a user makes, changes, sends and deletes; the server acts for him (platform-api §5.14).
    static let viewChanges = [
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations",
            "Creates a conversation on behalf of a user.", isKeyed: true,
            .body { call, body in try await call.createView(body) }
        ) { version, limits in
            Operation(
                "createUserConversation", body: ConversationDraftJSON.userSchema(version, limits),
                answers: [
                    .created(
                        ConversationJSON.userSchema(version), [.tag, .location, .contentLocation]),
                    .ok(
                        ConversationJSON.userSchema(version),
                        "The distinct conversation of these participants, which exists.",
                        [.tag, .location, .contentLocation]),
                ],
                errors: [.conflict, .participantBlocked, .idInUse],
                example: Example(
                    body: """
                        {"participants":[\(Sample.name(Sample.writer, version))],\
                        "metadata":{"topic":"rent"}}
                        """, after: ["createConversation"]))
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Changes a conversation on behalf of a user.",
            .body { call, body in try await call.patchView(body) }
        ) { version, limits in
            Operation(
                "patchUserConversation", body: ConversationPatchJSON.schema(version, limits),
                fields: [.ifMatch, .prefer],
                answers: [
                    .noContent([.tag, .contentLocation]),
                    .represented(ConversationJSON.userSchema(version)),
                ], errors: [.participantBlocked],
                example: Example(
                    body: #"[{"operation":"set","property":"metadata.topic","value":"keys"}]"#))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/conversations/{conversation}",
            "Deletes a conversation for a user or for everyone.",
            .head { call in try await call.deleteView() }
        ) { _ in
            Operation(
                "deleteUserConversation",
                query: [
                    .deletionMode, .destruction,
                    Parameter(
                        "leave", .choice(["true", "false"]),
                        "Whether the user takes part no more; false unless said otherwise."),
                ],
                fields: [.ifMatch], answers: [.noContent([.contentLocation])],
                example: Example(query: [("mode", "my_devices"), ("leave", "true")]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            "Sends a message on behalf of a user.", isKeyed: true,
            .body { call, body in try await call.sendVisibleMessage(body) }
        ) { version in
            Operation(
                "sendUserMessage", body: MessageDraftJSON.userSchema(version),
                answers: [
                    .created(MessageJSON.schema(version), [.tag, .location, .contentLocation])
                ],
                errors: [.idInUse],
                example: Example(
                    body: """
                        {"parts":[{"mime_type":"text/plain","body":"keys are under the mat"}]}
                        """))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/messages/{message}",
            "Deletes a message for a user or for everyone.",
            .head { call in try await call.deleteVisibleMessage() }
        ) { _ in
            Operation(
                "deleteUserMessage", query: [.deletionMode, .destruction], fields: [.ifMatch],
                answers: [.noContent],
                example: Example(query: [("mode", "all_participants")]))
        },
    ]
}

extension Parameter {
    /// From whose view a user deletes (client-api §4.1).
    fileprivate static let deletionMode = Parameter(
        "mode", .choice(["all_participants", "my_devices"]),
        "For everyone or for this user alone, which it is unless said otherwise.")

    /// The older name of a deletion for all.
    fileprivate static let destruction = Parameter(
        "destroy", .choice(["true", "false"]),
        "Without `mode`, `true` is the same as `mode=all_participants`.")
}
