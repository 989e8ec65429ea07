import MessagingWire

// Operations and reads as requests.
extension ModelOperation {
    /// The request in the state before it.
    func request(in model: ReferenceModel) -> PlainRequest {
        switch action {
        case .create(let user, let named, let isDistinct, let metadata, let own):
            var members = ["\"participants\":\(names(named))", "\"distinct\":\(isDistinct)"]
            if let metadata { members.append("\"metadata\":\(metadata.json)") }
            return post(
                path(user) + "/conversations", members, own, model, "layer:///conversations/")
        case .patch(let conversation, let user, let changes, let ahead):
            var request = makeRequest(
                "PATCH", "\(path(user))/conversations/\(model.name(conversation))",
                "[\(changes.map(patch).joined(separator: ","))]")
            if let ahead {
                let version =
                    model.conversation(conversation).map { model.conversations[$0].version } ?? 1
                request.fields.append(("If-Match", "\"v\(version + ahead)\""))
            }
            return request
        case .deleteConversation(let conversation, let user, let deletion):
            let query =
                switch deletion {
                case .forAll: user == nil ? "" : "?mode=all_participants"
                case .forMe: number.isMultiple(of: 2) ? "" : "?mode=my_devices&leave=false"
                case .leaving: "?mode=my_devices&leave=true"
                }
            return makeRequest(
                "DELETE", "\(path(user))/conversations/\(model.name(conversation))\(query)")
        case .send(let conversation, let author, let parts, let own):
            let shown = parts.enumerated().map { partIndex, part in
                let id = part.hasOwnID ? ",\"id\":\"\(model.partID(number, partIndex))\"" : ""
                return "{\"mime_type\":\"text/plain\",\"body\":\(quoted(part.text))\(id)}"
            }
            var user: ModelUser?
            var members = ["\"parts\":[\(shown.joined(separator: ","))]"]
            if case .user(let sender) = author {
                user = sender
            } else {
                members.insert(self.sender(author), at: 0)
            }
            return post(
                "\(path(user))/conversations/\(model.name(conversation))/messages", members, own,
                model,
                "layer:///messages/")
        case .deleteMessage(let message, let user, let forAll):
            let query = user == nil ? "" : forAll ? "?mode=all_participants" : "?mode=my_devices"
            return makeRequest("DELETE", "\(path(user))/messages/\(model.name(message))\(query)")
        case .changeParts(let message, let user, let change):
            return changeParts(message, user, change, model)
        case .receipt(let message, let user, let isRead):
            return makeRequest(
                "POST", "\(path(user))/messages/\(model.name(message))/receipts",
                "{\"type\":\"\(isRead ? "read" : "delivery")\"}")
        case .readAll(let conversation, let user, let last, let plus):
            let position = model.wirePosition(last, plus).map { "\($0)" } ?? "null"
            return makeRequest(
                "POST", "\(path(user))/conversations/\(model.name(conversation))/mark_all_read",
                "{\"position\":\(position)}")
        case .block(let owner, let other, let isAdded): return block(owner, other, isAdded)
        case .announce(let recipients, let author, let text, let own):
            return post(
                "/announcements",
                [
                    "\"recipients\":\(names(recipients))", sender(author),
                    "\"parts\":[{\"mime_type\":\"text/plain\",\"body\":\(quoted(text))}]",
                ], own, model, "layer:///announcements/")
        case .announcementReceipt(let announcement, let user, let isRead):
            return makeRequest(
                "POST", "\(path(user))/announcements/\(model.name(announcement))/receipts",
                "{\"type\":\"\(isRead ? "read" : "delivery")\"}")
        case .deleteAnnouncement(let announcement, let user):
            return makeRequest("DELETE", "\(path(user))/announcements/\(model.name(announcement))")
        case .identity(let user, let change): return identity(user, change)
        case .suspend(let user, let isSuspended):
            return makeRequest(
                "PATCH", path(user),
                "[{\"operation\":\"set\",\"property\":\"suspended\",\"value\":\(isSuspended)}]")
        case .setBadge(let user, let count):
            return makeRequest("PUT", "\(path(user))/badge", "{\"external_unread_count\":\(count)}")
        case .invalidRequest(let invalidRequest):
            let path = invalidRequest.path.replacing(
                "{conversation}", with: model.name(invalidRequest.conversation))
            return makeRequest(invalidRequest.method, path, invalidRequest.body)
        case .again: return makeRequest("GET", "/conversations")
        }
    }

    private func makeRequest(_ method: String, _ path: String, _ body: String = "") -> PlainRequest
    {
        var request = PlainRequest.model(method, path, body, version)
        if hasKey, ["POST", "PATCH"].contains(method) {
            request.fields.append(("Idempotency-Key", "operation-\(number)"))
        }
        return request
    }

    private func post(
        _ path: String, _ members: [String], _ own: OwnID?, _ model: ReferenceModel,
        _ prefix: String
    ) -> PlainRequest {
        var members = members
        if case .body(let number) = own {
            let id = model.ownID(number)
            members.append("\"id\":\"\(self.number.isMultiple(of: 2) ? prefix : "")\(id)\"")
        }
        var request = makeRequest("POST", path, "{\(members.joined(separator: ","))}")
        if case .header(let number) = own {
            request.fields.append(("If-None-Match", model.ownID(number)))
        }
        return request
    }

    private func path(_ user: ModelUser?) -> String { .path(user) }

    private func names(_ users: [ModelUser]) -> String {
        "[\(users.map { quoted($0.name(in: version)) }.joined(separator: ","))]"
    }

    private func sender(_ author: Author) -> String {
        switch author {
        case .service(let name): "\"sender\":{\"name\":\(quoted(name))}"
        case .system(let user), .user(let user):
            version.namesIdentities
                ? "\"sender_id\":\(quoted(user.identity))"
                : "\"sender\":{\"user_id\":\(quoted(user.text))}"
        }
    }

    private func patch(_ change: Change) -> String {
        func path(_ path: [String]) -> String {
            (["metadata"] + path).joined(separator: ".")
        }
        let operand = version.namesIdentities ? "id" : "value"
        return switch change {
        case .add(let user):
            """
            {"operation":"add","property":"participants","\(operand)":\(quoted(user.name(in: version)))}
            """
        case .remove(let user):
            """
            {"operation":"remove","property":"participants",\
            "\(operand)":\(quoted(user.name(in: version)))}
            """
        case .set(let users):
            "{\"operation\":\"set\",\"property\":\"participants\",\"value\":\(names(users))}"
        case .write(let keys, let tree):
            "{\"operation\":\"set\",\"property\":\"\(path(keys))\",\"value\":\(tree.json)}"
        case .erase(let keys): "{\"operation\":\"delete\",\"property\":\"\(path(keys))\"}"
        }
    }

    private func changeParts(
        _ message: Int, _ user: ModelUser?, _ change: PartsChange, _ model: ReferenceModel
    ) -> PlainRequest {
        let id = model.name(message)
        let conversation = model.message(message).map {
            model.conversations[model.messages[$0].conversation].id
        }
        let path =
            user != nil
            ? "\(path(user))/messages/\(id)/parts"
            : "/conversations/\(conversation ?? id)/messages/\(id)/parts"
        func part(_ text: String, _ partIndex: Int) -> String {
            """
            {"mime_type":"text/plain","body":\(quoted(text)),"id":"\(model.partID(number, partIndex))"}
            """
        }
        return switch change {
        case .add(let text): makeRequest("POST", path, part(text, 0))
        case .replaceAll(let texts):
            makeRequest(
                "PUT", path,
                "[\(texts.enumerated().map { part($1, $0) }.joined(separator: ","))]")
        case .remove(let index): makeRequest("DELETE", "\(path)/\(index)")
        }
    }

    private func block(_ owner: ModelUser, _ other: ModelUser, _ isAdded: Bool) -> PlainRequest {
        if usesBlockPaths {
            return isAdded
                ? makeRequest(
                    "POST", "\(path(owner))/blocks", "{\"user_id\":\(quoted(other.text))}")
                : makeRequest("DELETE", "\(path(owner))/blocks/\(other.encoded)")
        }
        let operand = version.namesIdentities ? "id" : "value"
        return makeRequest(
            "PATCH", path(owner),
            """
            [{"operation":"\(isAdded ? "add" : "remove")","property":"blocks",\
            "\(operand)":\(quoted(other.name(in: version)))}]
            """)
    }

    private func identity(_ user: ModelUser, _ change: IdentityChange) -> PlainRequest {
        let path = "\(path(user))/identity"
        func body(_ name: String, _ isBot: Bool) -> String {
            """
            {"display_name":\(quoted(name)),"identity_type":"\(isBot ? "bot" : "user")"}
            """
        }
        return switch change {
        case .create(let name, let isBot): makeRequest("POST", path, body(name, isBot))
        case .replace(let name, let isBot): makeRequest("PUT", path, body(name, isBot))
        case .rename(let name):
            makeRequest(
                "PATCH", path,
                "[{\"operation\":\"set\",\"property\":\"display_name\",\"value\":\(quoted(name))}]")
        case .delete: makeRequest("DELETE", path)
        }
    }
}

extension ModelRead {
    func request(in model: ReferenceModel, _ version: APIVersion) -> PlainRequest {
        func get(_ path: String) -> PlainRequest { .model("GET", path, "", version) }
        func page(_ size: Int, _ after: Int?, _ first: Character = "?") -> String {
            "\(first)page_size=\(size)" + (after.map { "&from_id=\(model.name($0))" } ?? "")
        }
        return switch self {
        case .conversation(let conversation): get("/conversations/\(model.name(conversation))")
        case .messages(let conversation, let size, let after):
            get("/conversations/\(model.name(conversation))/messages\(page(size, after))")
        case .message(let message): get("/messages/\(model.name(message))")
        case .userConversations(let user, let byLastMessage, let size, let after):
            get(
                "\(String.path(user))/conversations\(page(size, after))"
                    + (byLastMessage ? "&sort_by=last_message" : ""))
        case .userConversation(let user, let conversation):
            get("\(String.path(user))/conversations/\(model.name(conversation))")
        case .userMessages(let user, let conversation, let size, let after):
            get(
                "\(String.path(user))/conversations/\(model.name(conversation))/messages\(page(size, after))"
            )
        case .userMessage(let user, let message):
            get("\(String.path(user))/messages/\(model.name(message))")
        case .badge(let user): get("\(String.path(user))/badge")
        case .user(let user): get(String.path(user))
        case .blocks(let user): get("\(String.path(user))/blocks")
        case .announcements(let user, let size, let after):
            get("\(String.path(user))/announcements\(page(size, after))")
        case .announcement(let announcement, let user):
            get("\(String.path(user))/announcements/\(model.name(announcement))")
        case .conversations(let size, let after): get("/conversations\(page(size, after))")
        case .userCount: get("/users?page_size=1")
        }
    }
}

extension PlainRequest {
    fileprivate static func model(
        _ method: String, _ path: String, _ body: String, _ version: APIVersion
    ) -> PlainRequest {
        var fields = [
            (name: "Authorization", value: "Bearer {token}"),
            (name: "Accept", value: "application/vnd.layer+json; version=\(version.rawValue)"),
        ]
        if method == "PATCH" {
            fields.append(("Content-Type", "application/vnd.layer-patch+json"))
        }
        return PlainRequest(
            method: method, target: "/apps/{app}\(path)", fields: fields, body: body)
    }
}

extension String {
    fileprivate static func path(_ user: ModelUser?) -> String {
        user.map { "/users/\($0.encoded)" } ?? ""
    }
}

extension LogReplica.Tree {
    fileprivate var json: String {
        switch self {
        case .text(let text): quoted(text)
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }
                .map { "\(quoted($0.key)):\($0.value.json)" }.joined(separator: ",") + "}"
        }
    }
}

/// The text quoted; texts of operations have neither quotes nor control characters.
private func quoted(_ text: String) -> String { "\"\(text)\"" }
