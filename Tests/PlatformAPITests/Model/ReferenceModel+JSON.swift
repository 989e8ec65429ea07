import MessagingWire

// Objects in JSON of each version (platform-api §3).
extension ReferenceModel {
    private func base(_ user: ModelUser?) -> String {
        TestServer.base + "/apps/\(application)" + (user.map { "/users/\($0.encoded)" } ?? "")
    }

    private func basic(_ user: ModelUser, _ version: APIVersion) -> ModelValue {
        guard version.namesIdentities else { return .string(user.text) }
        return .exactly([
            "id": .text(user.identity), "url": .text("\(base(user))/identity"),
            "user_id": .string(user.text),
            "display_name": users[user]?.identity?.displayName.map(ModelValue.string) ?? .null,
            "avatar_url": .null,
        ])
    }

    private func json(_ sender: Sender, _ version: APIVersion) -> ModelValue {
        switch (sender, version.namesIdentities) {
        case (.service(let name), true):
            .exactly([
                "id": .null, "url": .null, "user_id": .null, "display_name": .string(name),
                "avatar_url": .null,
            ])
        case (.service(let name), false):
            .exactly(["user_id": .null, "name": .string(name)])
        case (.user(let user), true): basic(user, version)
        case (.user(let user), false):
            if let identity = users[user]?.identity, identity.isBot,
                let name = identity.displayName
            {
                .exactly(["user_id": .null, "name": .string(name)])
            } else {
                .exactly(["user_id": .string(user.text), "name": .null])
            }
        }
    }

    private func json(_ tree: LogReplica.Tree) -> ModelValue {
        switch tree {
        case .text(let text): .string(text)
        case .object(let members): .exactly(members.mapValues(json))
        }
    }

    /// - Parameter user: The viewer; `nil` for the system.
    func json(conversation index: Int, _ version: APIVersion, seenBy user: ModelUser? = nil)
        -> ModelValue
    {
        let conversation = conversations[index]
        let url = "\(base(user))/conversations/\(conversation.id)"
        let view = user.flatMap { conversation.views[$0] }
        let isFormer = view?.removed != nil
        var members: [String: ModelValue] = [
            "id": .text("layer:///conversations/\(conversation.id)"), "url": .text(url),
            "messages_url": .text("\(url)/messages"), "created_at": .text(conversation.createdAt),
            "participants": .list(
                isFormer ? [] : conversation.participants.map { basic($0, version) }),
            "participants_count": .number(isFormer ? 0 : Int64(conversation.participants.count)),
            "distinct": .bool(conversation.isDistinct),
            "metadata": json(
                isFormer ? view?.frozenMetadata ?? .object([:]) : conversation.metadata),
        ]
        if let user {
            let seen = visible(index, to: user)
            members["last_message"] =
                seen.last.map { json(message: $0, version, seenBy: user) } ?? .null
            members["unread_message_count"] = .number(Int64(unreadCount(index, of: user)))
            if version.namesIdentities {
                members["total_message_count"] = .number(Int64(seen.count))
            }
        }
        return .object(members)
    }

    func json(
        message: Message, _ version: APIVersion, seenBy user: ModelUser? = nil,
        isJustSent: Bool = false
    ) -> ModelValue {
        let conversation = conversations[message.conversation]
        let (id, conversationURL) = (message.id, "\(base(user))/conversations/\(conversation.id)")
        let url =
            user != nil ? "\(base(user))/messages/\(id)" : "\(conversationURL)/messages/\(id)"
        let isShort = isJustSent && user == nil && !version.namesIdentities
        let view = user.flatMap { conversation.views[$0] }
        let hasPosition = user != nil || version.namesIdentities
        let isWide = conversation.participants.count > wideLimit
        var members: [String: ModelValue] = [
            "id": .text("layer:///messages/\(id)"),
            "url": .text(isShort ? "\(base(nil))/messages/\(id)" : url),
            "receipts_url": user == nil ? .null : .text("\(url)/receipts"),
            "position": hasPosition ? .number(message.position * 65_536) : .null,
            "conversation": .exactly([
                "id": .text("layer:///conversations/\(conversation.id)"),
                "url": .text(conversationURL),
            ]),
            "parts": .list(message.parts.map { json(part: $0, of: id, url, version) }),
            "sent_at": .text(message.sentAt),
            "received_at": view?.reaches(message.position) == true
                ? .text(message.sentAt) : .null,
            "is_unread": user.map { .bool(isUnread(message, to: $0)) } ?? .null,
            "sender": json(message.sender, version),
            "recipient_status": .exactly(
                (isWide ? [] : message.recipients).reduce(into: [:]) { status, user in
                    status[user.name(in: version).inASCII] =
                        .text((message.status[user] ?? .sent).rawValue)
                }),
            "notification": .null,
        ]
        if isWide {
            members["recipient_counts"] = .exactly(
                Dictionary(
                    uniqueKeysWithValues: [Status.sent, .delivered, .read].map { status in
                        let users = message.recipients.filter { user in
                            (message.status[user] ?? .sent) == status
                        }
                        return (status.rawValue, .number(Int64(users.count)))
                    }))
        }
        if version == .v3_0 {
            members["channel"] = .null
            members["reply_to"] = .null
            members["updated_at"] = message.updatedAt.map(ModelValue.text) ?? .null
        }
        return .object(members)
    }

    func json(
        part: Part, of message: String, _ url: String, _ version: APIVersion
    ) -> ModelValue {
        var members: [String: ModelValue] = [
            "mime_type": .text("text/plain"), "body": .string(part.text), "encoding": .null,
            "content": .null,
        ]
        if version == .v3_0 {
            members["id"] =
                part.id.map { .text("layer:///messages/\(message)/parts/\($0)") } ?? .any
            members["url"] = part.id.map { .text("\(url)/parts/\($0)") } ?? .any
            members["message_url"] = .text(url)
            members["updated_at"] = part.updatedAt.map(ModelValue.text) ?? .null
        } else {
            members["id"] = .text("layer:///messages/\(message)/parts/\(part.index)")
        }
        return .object(members)
    }

    func json(
        announcement: Announcement, _ version: APIVersion, seenBy user: ModelUser? = nil
    ) -> ModelValue {
        let (id, url) = (
            "layer:///announcements/\(announcement.id)",
            "\(base(user))/announcements/\(announcement.id)"
        )
        var sender = announcement.sender
        // In 1.x a user cannot be the sender of an announcement.
        if !version.namesIdentities, let author = sender.user {
            sender = .service(users[author]?.identity?.displayName ?? author.text)
        }
        var members: [String: ModelValue] = [
            "id": .text(id), "url": .text(url), "sent_at": .text(announcement.sentAt),
            "sender": json(sender, version),
            "parts": .list([
                .object([
                    "id": .text("\(id)/parts/0"), "mime_type": .text("text/plain"),
                    "body": .string(announcement.text), "encoding": .null, "content": .null,
                ])
            ]),
        ]
        if let user {
            let status = announcement.status[user] ?? .sent
            members["is_unread"] = .bool(status != .read)
            members["received_at"] = .text(announcement.sentAt)
            members["receipts_url"] = .text("\(url)/receipts")
            members["position"] = .null
            members["conversation"] = .null
            members["recipient_status"] = .exactly([
                user.name(in: version).inASCII: .text(status.rawValue)
            ])
        } else {
            members["recipients"] = .list(
                announcement.recipients.map { .string($0.name(in: version)) })
        }
        return .object(members)
    }

    func json(user: ModelUser) -> ModelValue {
        let known = users[user]
        let identity = known?.identity.map { identity in
            ModelValue.object([
                "id": .text(user.identity), "user_id": .string(user.text),
                "url": .text("\(base(user))/identity"),
                "display_name": identity.displayName.map(ModelValue.string) ?? .null,
                "identity_type": .text(identity.isBot ? "bot" : "user"),
                "metadata": .exactly([:]), "first_name": .null,
            ])
        }
        return .exactly([
            "id": .string(user.text), "identity": identity ?? .null,
            "suspended": .bool(known?.isSuspended ?? false),
        ])
    }

    func json(blocksOf user: ModelUser, _ version: APIVersion) -> ModelValue {
        .unordered(
            (users[user]?.blocks ?? []).map { blocked in
                version.namesIdentities
                    ? basic(blocked, version) : .exactly(["user_id": .string(blocked.text)])
            })
    }
}
