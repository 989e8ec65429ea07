import HTTP
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `Packets of several users` {
    private static let bo = UserID("bo"), cy = UserID("cy")

    /// What bo and cy see of a conversation in which all kinds of changes happen.
    private func operations(
        version: APIVersion
    ) async throws -> (login: LoginFixture, bo: [UserChange.Operation], cy: [UserChange.Operation])
    {
        let login = try await LoginFixture.make(version: version.rawValue)
        let (ana, di) = (try await login.session(), try await login.session(of: "di"))
        func send(
            _ method: String, _ target: String, _ body: String = "", by session: String? = nil
        ) async throws -> PlainAnswer {
            let answer = try await login.send(method, target, body, session: session ?? ana)
            try #require((200..<300).contains(answer.status), "\(answer)")
            return answer
        }
        let name = { (user: String) in
            version.namesIdentities ? "\"layer:///identities/\(user)\"" : "\"\(user)\""
        }
        let member = version.namesIdentities ? "id" : "value"
        let created = try await send(
            "POST", "/conversations",
            #"{"participants":[\#(name("bo")),\#(name("cy")),\#(name("di"))],"metadata":{"a":"b"}}"#
        )
        let path = "/conversations/\(try #require(created.createdID))"
        let text = #"{"parts":[{"mime_type":"text/plain","body":"hello"}]}"#
        let message = try #require(try await send("POST", "\(path)/messages", text).createdID)
        let other = try #require(try await send("POST", "\(path)/messages", text).createdID)
        _ = try await send(
            "POST", "/messages/\(message)/receipts", #"{"type":"delivery"}"#, by: di)
        _ = try await send("POST", "/messages/\(message)/receipts", #"{"type":"read"}"#, by: di)
        // For one message it would be a receipt.
        _ = try await send("POST", "\(path)/messages", text)
        _ = try await send("POST", "\(path)/mark_all_read", "{}", by: di)
        _ = try await send(
            "PATCH", path, #"[{"operation":"set","property":"metadata.a","value":"c"}]"#)
        if version.namesIdentities {
            _ = try await send(
                "PUT", "/messages/\(message)/parts", "[\(text.dropFirst(10).dropLast(2))]")
        }
        var (seen, position) = ([[], []] as [[UserChange.Operation]], LogPosition.start)
        // Objects that are deleted later are not in the changes before.
        func collect() async throws {
            let end = try await login.sample.end()
            for (index, user) in [Self.bo, Self.cy].enumerated() {
                let page = try await login.store.changes(
                    of: try #require(user), after: position, in: login.sample.application)
                seen[index] += page.changes.flatMap(\.operations)
            }
            position = LogPosition(end)
        }
        try await collect()
        _ = try await send("DELETE", "/messages/\(other)?mode=all_participants")
        _ = try await login.sendAsServer(
            "PUT", "/apps/{app}/users/ana/identity", #"{"display_name":"Ana"}"#)
        _ = try await send(
            "PATCH", path,
            #"[{"operation":"remove","property":"participants","\#(member)":\#(name("di"))}]"#)
        try await collect()
        _ = try await send("DELETE", "\(path)?mode=all_participants")
        try await collect()
        return (login, seen[0], seen[1])
    }

    private func connection(of user: UserID?, _ version: APIVersion, _ login: LoginFixture) throws
        -> UserConnection
    {
        UserConnection(
            of: try #require(user), version: version, in: login.sample.application,
            Request(method: .get, target: RequestTarget("/"), fields: Fields([])),
            login.sample.server.service.api)
    }

    @Test(arguments: [APIVersion.v1_0, .v2_0, .v3_0])
    func `that report one change are the same, and encoded once (X13)`(
        version: APIVersion
    ) async throws {
        let (login, seen, others) = try await operations(version: version)
        let (bo, cy) = (
            try connection(of: Self.bo, version, login), try connection(of: Self.cy, version, login)
        )
        let cache = PacketCache()
        let form = PacketCache.Form(
            base: bo.base, application: bo.application, version: bo.version)
        var (kinds, known): (Set<String>, Set<String>) = ([], [])
        for operation in seen where others.contains(operation) {
            let isRepeated = !known.insert("\(operation)").inserted
            var count = 0
            let plain = [bo, cy].map { connection in
                ChangeJSON.packets(operation, for: connection.user, connection.presentation())
            }
            for (connection, packets) in zip([bo, cy], plain) {
                let cached = cache.packets(of: .change(operation), form) {
                    count += 1
                    return packets
                }
                #expect(cached.map(\.body) == plain[0].map(\.body))
                let encoded = FeedEncoder(connection).packets(operation)
                #expect(encoded.map(\.body) == packets.map(\.body))
                #expect(encoded.map(\.type) == packets.map(\.type))
            }
            // Some happen twice.
            #expect(count == 1 || isRepeated && count == 0, "\(operation)")
            kinds.insert(String("\(operation)".prefix { character in character != "(" }))
        }
        // Of the identities that a user follows, each sees another set.
        #expect(
            kinds.isSuperset(of: [
                "conversationCreated", "conversationDeleted", "participants", "metadata", "counts",
                "messageCreated", "messageStatus", "markedAllRead", "messageDeleted",
                "identityChanged",
            ]), "\(kinds)")
        #expect(kinds.contains("parts") == version.namesIdentities)
    }

    @Test func `that differ in one member are not taken for each other (X13)`() async throws {
        let (login, seen, _) = try await operations(version: .v3_0)
        let api = login.sample.server.service.api
        let bo = try connection(of: Self.bo, .v3_0, login)
        let ana = try #require(UserID("ana"))
        // Each after the others, so that every kind finds a packet of the same object.
        for operation in seen + seen.reversed() + seen {
            let plain = ChangeJSON.packets(operation, for: bo.user, bo.presentation())
            #expect(FeedEncoder(bo).packets(operation).map(\.body) == plain.map(\.body))
        }
        for status in [PresenceStatus.busy, .away, .busy] {
            let presence = Presence(user: ana, status: status, lastSeenAt: api.clock())
            #expect(
                FeedEncoder(bo).body(presence) == ChangeJSON.presence(presence, bo.presentation()))
            #expect(
                FeedEncoder(bo).body(.presence(presence))
                    == SignalJSON.body(.presence(presence), bo.presentation()))
        }
        let conversation = try await login.sample.conversation()
        for action in [TypingAction.started, .paused, .finished, .started] {
            let signal = Signal.typing(action, by: BasicIdentity(userID: ana), in: conversation)
            #expect(FeedEncoder(bo).body(signal) == SignalJSON.body(signal, bo.presentation()))
        }
    }
}
