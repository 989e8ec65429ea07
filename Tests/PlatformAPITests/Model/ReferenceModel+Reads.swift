import MessagingWire

// Responses to reads.
extension ReferenceModel {
    func answer(to read: ModelRead, _ version: APIVersion) -> ModelExpectation {
        switch read {
        case .conversation(let number):
            guard let index = conversation(number) else { return .notFound }
            guard !conversations[index].isDeleted else { return .gone }
            return ModelExpectation(
                status: 200, body: json(conversation: index, version),
                version: conversations[index].version)
        case .messages(let number, let size, let after):
            guard let index = conversation(number) else { return .notFound }
            guard !conversations[index].isDeleted else { return .gone }
            let all = conversations[index].messages.map { messages[$0] }.filter { !$0.isDeleted }
            return page(all.reversed(), size, after.map(name), \.id) { message in
                json(message: message, version)
            }
        case .message(let number):
            guard let index = message(number), !messages[index].isDeleted,
                !conversations[messages[index].conversation].isDeleted
            else { return .notFound }
            return .ok(json(message: messages[index], version))
        case .userConversations(let user, let byLastMessage, let size, let after):
            guard users[user] != nil else { return .notFound }
            return page(
                list(of: user, byLastMessage: byLastMessage), size,
                after.map { conversation($0).map { conversations[$0].id } ?? name($0) },
                { conversations[$0].id }
            ) { index in
                json(conversation: index, version, seenBy: user)
            }
        case .userConversation(let user, let number):
            guard users[user] != nil, let index = conversation(number), shows(index, to: user)
            else {
                return .notFound
            }
            return .ok(json(conversation: index, version, seenBy: user))
        case .userMessages(let user, let number, let size, let after):
            guard users[user] != nil, let index = conversation(number), shows(index, to: user)
            else {
                return .notFound
            }
            return page(
                visible(index, to: user).reversed(), size, after.map(name), \.id
            ) { message in
                json(message: message, version, seenBy: user)
            }
        case .userMessage(let user, let number):
            guard let index = message(number), isVisible(messages[index], to: user) else {
                return .notFound
            }
            return .ok(json(message: messages[index], version, seenBy: user))
        case .badge(let user):
            guard let known = users[user] else { return .notFound }
            let unread = conversations.indices.filter { shows($0, to: user) }
                .map { unreadCount($0, of: user) }
            return .ok(
                .object([
                    "external_unread_count": .number(known.externalCount),
                    "unread_conversation_count": .number(Int64(unread.count { $0 > 0 })),
                    "unread_message_count": .number(Int64(unread.reduce(0, +))),
                ]))
        case .user(let user):
            return users[user] == nil ? .notFound : .ok(json(user: user))
        case .blocks(let user): return .ok(json(blocksOf: user, version))
        case .announcements(let user, let size, let after):
            guard users[user] != nil else { return .notFound }
            let all = announcements.filter { $0.status[user] != nil }
                .sorted { ($0.sentAt, $0.id) > ($1.sentAt, $1.id) }
            return page(all, size, after.map(name), \.id) { announcement in
                json(announcement: announcement, version, seenBy: user)
            }
        case .announcement(let number, let user):
            guard let index = announcement(number) else { return .notFound }
            if let user, announcements[index].status[user] == nil { return .notFound }
            return .ok(json(announcement: announcements[index], version, seenBy: user))
        case .conversations(let size, let after):
            let all = conversations.filter { !$0.isDeleted }
                .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
            return page(
                all.compactMap { conversationNames[$0.id] }, size,
                after.map { conversation($0).map { conversations[$0].id } ?? name($0) },
                { conversations[$0].id }
            ) { index in
                json(conversation: index, version)
            }
        case .userCount: return ModelExpectation(status: 200, count: users.count)
        }
    }

    private func page<Element>(
        _ all: [Element], _ size: Int, _ after: String?, _ id: (Element) -> String,
        _ show: (Element) -> ModelValue
    ) -> ModelExpectation {
        var rest = all[...]
        if let after {
            guard let start = all.firstIndex(where: { id($0) == after }) else { return .notFound }
            rest = all[(start + 1)...]
        }
        return .ok(.list(rest.prefix(size).map(show)), count: all.count)
    }
}
