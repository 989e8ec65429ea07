import MessagingWire

// Operations and their responses.
extension ReferenceModel {
    /// Applies an operation.
    ///
    /// - Parameter made: The UUID in the response, if the server chose the id.
    mutating func perform(_ operation: ModelOperation, made: String?) -> ModelExpectation {
        let (number, version) = (operation.number, operation.version)
        switch operation.action {
        case .create(let user, let named, let isDistinct, let metadata, let own):
            return create(
                number, version, by: user, named, isDistinct: isDistinct, metadata, own, made)
        case .patch(let conversation, let user, let changes, let ahead):
            return patch(conversation, version, by: user, changes, ahead: ahead)
        case .deleteConversation(let conversation, let user, let deletion):
            return delete(conversation, by: user, deletion)
        case .send(let conversation, let author, let parts, let own):
            return send(number, version, conversation, by: author, parts, own, made)
        case .deleteMessage(let message, let user, let forAll):
            return delete(message: message, by: user, forAll: forAll)
        case .changeParts(let message, let user, let change):
            return changeParts(number, version, of: message, by: user, change)
        case .receipt(let message, let user, let isRead):
            return receive(message, by: user, isRead: isRead)
        case .readAll(let conversation, let user, let last, let plus):
            return readAll(conversation, by: user, upTo: last, plus: plus)
        case .block(let owner, let other, let isAdded):
            if isAdded {
                touch([owner, other])
                users[owner]?.blocks.insert(other)
            } else {
                users[owner]?.blocks.remove(other)
            }
            return .empty(operation.usesBlockPaths ? 204 : 202)
        case .announce(let recipients, let author, let text, let own):
            return announce(number, version, to: recipients, by: author, text, own, made)
        case .announcementReceipt(let announcement, let user, let isRead):
            guard let index = self.announcement(announcement), users[user] != nil,
                let status = announcements[index].status[user]
            else { return .notFound }
            announcements[index].status[user] = max(status, isRead ? .read : .delivered)
            return .empty(204)
        case .deleteAnnouncement(let announcement, let user):
            guard let index = self.announcement(announcement),
                announcements[index].status.removeValue(forKey: user) != nil
            else { return .notFound }
            return .empty(204)
        case .identity(let user, let change): return identify(user, change)
        case .suspend(let user, let isSuspended):
            // An operation without effect creates no user, as with blocks.
            if isSuspended { touch([user]) }
            users[user]?.isSuspended = isSuspended
            return .empty(202)
        case .setBadge(let user, let count):
            guard users[user] != nil else { return .notFound }
            users[user]?.externalCount = count
            return .empty(204)
        case .invalidRequest(let invalidRequest):
            return .refused(invalidRequest.status, invalidRequest.error, invalidRequest.property)
        case .again: return .empty(200)
        }
    }

    // MARK: - Conversations

    private mutating func create(
        _ number: Int, _ version: APIVersion, by user: ModelUser?, _ named: [ModelUser],
        isDistinct: Bool, _ metadata: LogReplica.Tree?, _ own: ModelOperation.OwnID?,
        _ made: String?
    ) -> ModelExpectation {
        var participants = named.uniqued
        if let user, !participants.contains(user) { participants.insert(user, at: 0) }
        guard !participants.isEmpty else {
            return .refused(422, "invalid_property", "participants")
        }
        if let user, users[user] == nil { return .notFound }
        var (key, proposed): (String?, String?) = (nil, nil)
        switch own {
        case .header(let number): key = ownID(number)
        case .body(let number): proposed = ownID(number)
        case nil: break
        }
        func answer(_ status: Int, _ index: Int) -> ModelExpectation {
            ModelExpectation(
                status: status, body: json(conversation: index, version, seenBy: user),
                version: conversations[index].version)
        }
        if let key {
            let known =
                conversationKeys[key]
                ?? conversationNames[key].map { (conversation: $0, isMatch: false) }
            if let known {
                guard !conversations[known.conversation].isDeleted else {
                    return user == nil ? .gone : .notFound
                }
                if let user, !shows(known.conversation, to: user) { return .notFound }
                return answer(known.isMatch ? 200 : 201, known.conversation)
            }
        }
        if let user, isBlocked(participants, by: user) {
            return .refused(422, "participant_blocked")
        }
        if let proposed, let holder = conversationNames[proposed] {
            guard !conversations[holder].isDeleted else { return user == nil ? .gone : .notFound }
            let isShown = user.map { shows(holder, to: $0) } ?? true
            return .refused(
                409, "id_in_use",
                data: isShown ? json(conversation: holder, version, seenBy: user) : nil)
        }
        if isDistinct, let match = match(participants) {
            if let metadata, metadata != conversations[match].metadata {
                // The proposed id stays unused (ruling 51), and so does the key (ruling 12).
                return .refused(
                    409, "conflict", data: json(conversation: match, version, seenBy: user))
            }
            if let key { conversationKeys[key] = (match, true) }
            if let alias = proposed ?? key { conversationNames[alias] = match }
            show(match, to: user)
            remember(number, proposed ?? key ?? conversations[match].id)
            return answer(200, match)
        }
        guard let id = proposed ?? key ?? made else { return .empty(201) }
        var conversation = ConversationState(
            id: id, createdAt: time, participants: participants, isDistinct: isDistinct,
            metadata: metadata ?? .object([:]), isAnnounced: user == nil)
        for participant in participants {
            let isShown = user == nil || participant == user
            conversation.views[participant] = View(state: isShown ? .shown : .unseen, joined: 0)
        }
        touch(participants: participants)
        conversations.append(conversation)
        conversationNames[id] = conversations.count - 1
        if let key { conversationKeys[key] = (conversations.count - 1, false) }
        remember(number, id)
        return answer(201, conversations.count - 1)
    }

    private func isBlocked(_ named: [ModelUser], by user: ModelUser) -> Bool {
        named.contains { other in other != user && users[user]?.blocks.contains(other) == true }
    }

    /// The conversation of a write, or its rejection (R10, R14).
    private func writable(_ number: Int, by user: ModelUser?) -> (Int?, ModelExpectation) {
        if let user, users[user] == nil { return (nil, .notFound) }
        guard let index = conversation(number) else { return (nil, .notFound) }
        guard let user else {
            return conversations[index].isDeleted ? (nil, .gone) : (index, .notFound)
        }
        guard !conversations[index].isDeleted, let view = conversations[index].views[user],
            view.state != .unseen
        else { return (nil, .notFound) }
        return view.removed == nil ? (index, .notFound) : (nil, .denied)
    }

    private mutating func patch(
        _ number: Int, _ version: APIVersion, by user: ModelUser?,
        _ changes: [ModelOperation.Change], ahead: Int64?
    ) -> ModelExpectation {
        let (found, refusal) = writable(number, by: user)
        guard let index = found else { return refusal }
        if let ahead, ahead != 0 {
            return .refused(
                412, "version_mismatch", data: json(conversation: index, version, seenBy: user))
        }
        let before = conversations[index]
        var (participants, metadata) = (before.participants, before.metadata)
        for change in changes {
            switch change {
            case .add(let user):
                if !participants.contains(user) { participants.append(user) }
            case .remove(let user): participants.removeAll { $0 == user }
            case .set(let users): participants = users.uniqued
            case .write(let path, let tree): metadata.set(path[...], tree)
            case .erase(let path):
                if path.isEmpty || metadata.holds(path[...]) { metadata.set(path[...], nil) }
            }
        }
        let added = participants.filter { !before.participants.contains($0) }
        if let user, isBlocked(added, by: user) { return .refused(422, "participant_blocked") }
        // Participants first: a removed one keeps the metadata from before the patch (R14).
        changeParticipants(of: index, to: participants)
        if metadata != before.metadata {
            conversations[index].metadata = metadata
            conversations[index].version += 1
        }
        return .empty(204)
    }

    private mutating func delete(
        _ number: Int, by user: ModelUser?, _ deletion: ModelOperation.Deletion
    ) -> ModelExpectation {
        guard let user else {
            guard let index = conversation(number) else { return .notFound }
            conversations[index].isDeleted = true
            return .empty(204)
        }
        guard users[user] != nil, let index = conversation(number), !conversations[index].isDeleted,
            let view = conversations[index].views[user], view.state != .unseen
        else { return .notFound }
        let isFormer = view.removed != nil
        switch deletion {
        case .forAll:
            guard !isFormer else { return .denied }
            conversations[index].isDeleted = true
        case .forMe:
            guard view.state == .shown else { return .notFound }
            let last = view.removed ?? conversations[index].last
            conversations[index].views[user]?.state = .cleared
            conversations[index].views[user]?.cleared = last
        case .leaving:
            if isFormer, view.state != .shown { return .notFound }
            let rest = conversations[index].participants.filter { other in other != user }
            changeParticipants(of: index, to: rest)
            conversations[index].views[user]?.state = .left
        }
        return .empty(204)
    }

    // MARK: - Messages

    private mutating func send(
        _ number: Int, _ version: APIVersion, _ conversation: Int, by author: ModelOperation.Author,
        _ parts: [ModelOperation.Part], _ own: ModelOperation.OwnID?, _ made: String?
    ) -> ModelExpectation {
        var (actor, sender): (ModelUser?, Sender) = (nil, .service(""))
        switch author {
        case .service(let name):
            if version.namesIdentities { return .refused(422, "invalid_property", "sender.name") }
            sender = .service(name)
        case .system(let user): sender = .user(user)
        case .user(let user): (actor, sender) = (user, .user(user))
        }
        if let actor, users[actor] == nil { return .notFound }
        var (key, proposed): (String?, String?) = (nil, nil)
        switch own {
        case .header(let number): key = ownID(number)
        case .body(let number): proposed = ownID(number)
        case nil: break
        }
        if let key, let known = messageNames[key] {
            guard let message = live(known) else { return .notFound }
            if let actor, !isVisible(message, to: actor) { return .notFound }
            return sent(message, version, actor)
        }
        let (found, refusal) = writable(conversation, by: actor)
        guard let index = found else { return refusal }
        if let proposed, let known = messageNames[proposed] {
            guard let message = live(known) else { return .notFound }
            let isShown = actor.map { isVisible(message, to: $0) } ?? true
            return .refused(
                409, "id_in_use",
                data: isShown ? json(message: message, version, seenBy: actor) : nil)
        }
        if let user = sender.user, !conversations[index].participants.contains(user) {
            guard version.namesIdentities else {
                return .refused(422, "invalid_property", "sender.user_id")
            }
            if users[user]?.identity == nil {
                return .refused(422, "invalid_property", "sender_id")
            }
        }
        guard let id = proposed ?? key ?? made else { return .empty(201) }
        let present = conversations[index].participants
        let blocked = blocked(sender.user)
        conversations[index].last += 1
        var message = Message(
            id: id, conversation: index, position: conversations[index].last, sender: sender,
            sentAt: time,
            parts: parts.enumerated().map { partIndex, part in
                Part(
                    index: partIndex, id: part.hasOwnID ? partID(number, partIndex) : nil,
                    text: part.text)
            },
            partsMade: parts.count, recipients: present, status: [:], blocked: blocked)
        for user in present { message.status[user] = sender.user == user ? .read : .sent }
        messages.append(message)
        messageNames[id] = messages.count - 1
        conversations[index].messages.append(messages.count - 1)
        conversations[index].isAnnounced = true
        for user in present where !blocked.contains(user) {
            conversations[index].views[user]?.state = .shown
        }
        remember(number, id)
        return sent(message, version, actor)
    }

    /// The id that the caller gives a part.
    func partID(_ number: Int, _ partIndex: Int) -> String {
        ownID(100_000 + number * 100 + partIndex)
    }

    private func sent(
        _ message: Message, _ version: APIVersion, _ actor: ModelUser?
    ) -> ModelExpectation {
        ModelExpectation(
            status: 201, body: json(message: message, version, seenBy: actor, isJustSent: true))
    }

    private func live(_ index: Int) -> Message? {
        let message = messages[index]
        return message.isDeleted || conversations[message.conversation].isDeleted ? nil : message
    }

    /// A message that a user or the system can access (R77).
    private func reachable(_ number: Int, by user: ModelUser?) -> Int? {
        guard let index = message(number), let found = live(index) else { return nil }
        return user.map { isVisible(found, to: $0) } ?? true ? index : nil
    }

    private mutating func delete(
        message number: Int, by user: ModelUser?, forAll: Bool
    ) -> ModelExpectation {
        guard let index = reachable(number, by: user) else { return .notFound }
        if let user {
            guard forAll else {
                messages[index].hidden.insert(user)
                return .empty(204)
            }
            if conversations[messages[index].conversation].views[user]?.removed != nil {
                return .denied
            }
        }
        messages[index].isDeleted = true
        return .empty(204)
    }

    private mutating func changeParts(
        _ number: Int, _ version: APIVersion, of target: Int, by user: ModelUser?,
        _ change: ModelOperation.PartsChange
    ) -> ModelExpectation {
        if user == nil, let index = message(target),
            conversations[messages[index].conversation].isDeleted
        {
            return .gone
        }
        guard let index = reachable(target, by: user) else { return .notFound }
        var message = messages[index]
        if let user {
            guard message.sender.user == user else { return .denied }
            if conversations[message.conversation].views[user]?.removed != nil { return .denied }
        }
        func new(_ text: String, _ partIndex: Int) -> Part {
            Part(
                index: message.partsMade + partIndex, id: partID(number, partIndex), text: text,
                updatedAt: time)
        }
        switch change {
        case .add(let text):
            message.parts.append(new(text, 0))
            message.partsMade += 1
        case .replaceAll(let texts):
            message.parts = texts.enumerated().map { partIndex, text in new(text, partIndex) }
            message.partsMade += texts.count
        case .remove(let part):
            guard message.parts.contains(where: { $0.index == part }) else { return .notFound }
            if message.parts.count == 1 { return .refused(422, "invalid_operation") }
            message.parts.removeAll { $0.index == part }
        }
        message.updatedAt = time
        messages[index] = message
        let shown = json(message: message, version, seenBy: user)["parts"]
        switch change {
        case .add:
            guard case .list(let parts)? = shown else { return .empty(201) }
            return ModelExpectation(status: 201, body: parts.last)
        case .replaceAll: return ModelExpectation(status: 200, body: shown)
        case .remove: return .empty(204)
        }
    }

    private mutating func receive(
        _ number: Int, by user: ModelUser, isRead: Bool
    ) -> ModelExpectation {
        guard users[user] != nil, let index = reachable(number, by: user) else { return .notFound }
        raise(index, user, isRead ? .read : .delivered)
        return .empty(204)
    }

    /// Applies a receipt (R70): nothing for a user without an entry.
    private mutating func raise(_ index: Int, _ user: ModelUser, _ status: Status) {
        guard let known = messages[index].status[user] else { return }
        messages[index].status[user] = max(known, status)
    }

    private mutating func readAll(
        _ number: Int, by user: ModelUser, upTo last: Int?, plus: Int64
    ) -> ModelExpectation {
        guard users[user] != nil, let index = conversation(number), shows(index, to: user) else {
            return .notFound
        }
        let limit = wirePosition(last, plus)
        let seen = visible(index, to: user).filter { $0.position * 65_536 <= limit ?? .max }
        for message in seen {
            if let partIndex = messageNames[message.id] { raise(partIndex, user, .read) }
        }
        return ModelExpectation(
            status: 202,
            body: .object([
                "position": seen.last.map { .number($0.position * 65_536) } ?? .null
            ]))
    }

    /// The position in a request; `nil` for all.
    func wirePosition(_ message: Int?, _ plus: Int64) -> Int64? {
        guard let message else { return nil }
        let position = self.message(message).map { messages[$0].position } ?? 0
        return max(0, position * 65_536 + plus)
    }

    // MARK: - Announcements and identities

    private mutating func announce(
        _ number: Int, _ version: APIVersion, to recipients: [ModelUser],
        by author: ModelOperation.Author, _ text: String, _ own: ModelOperation.OwnID?,
        _ made: String?
    ) -> ModelExpectation {
        guard !recipients.isEmpty else { return .refused(422, "invalid_property", "recipients") }
        var sender = Sender.service("")
        switch author {
        case .service(let name):
            if version.namesIdentities { return .refused(422, "invalid_property", "sender.name") }
            sender = .service(name)
        case .system(let user), .user(let user):
            guard version.namesIdentities else {
                return .refused(422, "invalid_property", "sender.user_id")
            }
            sender = .user(user)
        }
        var (key, proposed): (String?, String?) = (nil, nil)
        switch own {
        case .header(let number): key = ownID(number)
        case .body(let number): proposed = ownID(number)
        case nil: break
        }
        if let key, let known = announcementNames[key] {
            return ModelExpectation(
                status: 202, body: json(announcement: announcements[known], version))
        }
        if let proposed, let known = announcementNames[proposed] {
            return .refused(
                409, "id_in_use", data: json(announcement: announcements[known], version))
        }
        if let user = sender.user, users[user]?.identity == nil {
            return .refused(422, "invalid_property", "sender_id")
        }
        guard let id = proposed ?? key ?? made else { return .empty(202) }
        touch(recipients, withIdentity: true)
        // The status of a sender that is also a recipient is read, as with messages (R71).
        let status = recipients.uniqued.map { user in
            (user, sender.user == user ? Status.read : .sent)
        }
        let announcement = Announcement(
            id: id, sender: sender, sentAt: time, text: text, recipients: recipients.uniqued,
            status: Dictionary(uniqueKeysWithValues: status))
        announcements.append(announcement)
        announcementNames[id] = announcements.count - 1
        remember(number, id)
        return ModelExpectation(status: 202, body: json(announcement: announcement, version))
    }

    private mutating func identify(
        _ user: ModelUser, _ change: ModelOperation.IdentityChange
    ) -> ModelExpectation {
        let known = users[user]?.identity
        switch change {
        case .create(let name, let isBot):
            if known?.isCreated == true {
                return .refused(409, "id_in_use", data: json(user: user)["identity"])
            }
            touch([user])
            users[user]?.identity = Identity(displayName: name, isBot: isBot, isCreated: true)
            return .empty(201)
        case .replace(let name, let isBot):
            touch([user])
            users[user]?.identity = Identity(displayName: name, isBot: isBot, isCreated: true)
        case .rename(let name):
            guard known != nil else { return .notFound }
            users[user]?.identity?.displayName = name
            users[user]?.identity?.isCreated = true
        case .delete:
            guard known != nil else { return .notFound }
            users[user]?.identity = nil
        }
        return .empty(204)
    }
}

extension ModelOperation {
    /// Whether a block uses `POST` and `DELETE …/blocks`, which only 1.x has.
    var usesBlockPaths: Bool { !version.namesIdentities && number.isMultiple(of: 2) }
}

extension Sequence where Element: Hashable {
    /// The elements without repetitions, in the order of their first appearance.
    var uniqued: [Element] {
        var seen: Set<Element> = []
        return filter { element in seen.insert(element).inserted }
    }
}

extension LogReplica.Tree {
    /// Whether there is a value at a path.
    func holds(_ path: ArraySlice<String>) -> Bool {
        guard let key = path.first else { return true }
        guard case .object(let members) = self, let child = members[key] else { return false }
        return child.holds(path.dropFirst())
    }
}
