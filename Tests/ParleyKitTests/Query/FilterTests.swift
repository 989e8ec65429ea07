import FoundationEssentials
import TestSupport
import Testing

@testable import ParleyKit

/// A filter and the same condition on a value in memory.
struct FilterCase<Element: Queryable> {
    let name: String
    let filter: Filter<Element>
    let matches: (Element) -> Bool

    /// Filters of a column, each with some values.
    ///
    /// - Parameter read: The values of the column: one, or one for each part.
    static func equality<C: FilterableColumn>(
        _ name: String, _ column: C, _ values: [C.Value], _ read: @escaping (Element) -> [C.Value]
    ) -> [Self] where C.Element == Element, C.Value: Equatable {
        values.flatMap { value in
            [
                Self(name: "\(name) == \(value)", filter: column == value) {
                    read($0).contains(value)
                },
                Self(name: "\(name) != \(value)", filter: column != value) {
                    read($0).contains { $0 != value }
                },
            ]
        }
            + (0...values.count).flatMap { count in
                let list = Array(values.prefix(count))
                return [
                    Self(name: "\(name) in \(list)", filter: column.isIn(list)) {
                        read($0).contains { list.contains($0) }
                    },
                    Self(name: "\(name) not in \(list)", filter: column.isNotIn(list)) {
                        read($0).contains { !list.contains($0) }
                    },
                ]
            }
    }

    static func order<C: FilterableColumn>(
        _ name: String, _ column: C, _ values: [C.Value], _ read: @escaping (Element) -> [C.Value]
    ) -> [Self] where C.Element == Element, C.Value: Comparable {
        equality(name, column, values, read)
            + values.flatMap { value in
                [
                    Self(name: "\(name) < \(value)", filter: column < value) {
                        read($0).contains { $0 < value }
                    },
                    Self(name: "\(name) <= \(value)", filter: column <= value) {
                        read($0).contains { $0 <= value }
                    },
                    Self(name: "\(name) > \(value)", filter: column > value) {
                        read($0).contains { $0 > value }
                    },
                    Self(name: "\(name) >= \(value)", filter: column >= value) {
                        read($0).contains { $0 >= value }
                    },
                ]
            }
    }

    static func optionalOrder<C: FilterableColumn, Value: Comparable>(
        _ name: String, _ column: C, _ values: [Value], _ read: @escaping (Element) -> [Value?]
    ) -> [Self] where C.Element == Element, C.Value == Value? {
        equality(name, column, values + [nil], read)
            + values.flatMap { value in
                [
                    Self(name: "\(name) < \(value)", filter: column < value) {
                        read($0).contains { $0.map { $0 < value } ?? false }
                    },
                    Self(name: "\(name) <= \(value)", filter: column <= value) {
                        read($0).contains { $0.map { $0 <= value } ?? false }
                    },
                    Self(name: "\(name) > \(value)", filter: column > value) {
                        read($0).contains { $0.map { $0 > value } ?? false }
                    },
                    Self(name: "\(name) >= \(value)", filter: column >= value) {
                        read($0).contains { $0.map { $0 >= value } ?? false }
                    },
                ]
            }
    }

    static func like<C: FilterableColumn>(
        _ name: String, _ column: C, _ read: @escaping (Element) -> [String?]
    ) -> [Self] where C.Element == Element, C.Value == String? {
        patterns.map { pattern in
            Self(name: "\(name) like \(pattern)", filter: column.like(pattern)) {
                read($0).contains { $0.map { isLike($0, pattern) } ?? false }
            }
        }
    }

    static func like<C: FilterableColumn>(
        _ name: String, _ column: C, _ read: @escaping (Element) -> [String]
    ) -> [Self] where C.Element == Element, C.Value == String {
        patterns.map { pattern in
            Self(name: "\(name) like \(pattern)", filter: column.like(pattern)) {
                read($0).contains { isLike($0, pattern) }
            }
        }
    }

    private static var patterns: [String] {
        ["RED", "r%", "%E%", "_ed", "%", "", "h_LLO", "H%lo", "image/%", "IMAGE_X%", "TEXT/____"]
    }

    private static func isLike(_ text: String, _ pattern: String) -> Bool {
        func matches(_ text: Substring, _ pattern: Substring) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == "%" {
                return (0...text.count).contains {
                    matches(text.dropFirst($0), pattern.dropFirst())
                }
            }
            guard let character = text.first else { return false }
            let isEqual = first == "_" || lower(first) == lower(character)
            return isEqual && matches(text.dropFirst(), pattern.dropFirst())
        }
        func lower(_ character: Character) -> String {
            character.isASCII ? character.lowercased() : String(character)
        }
        return matches(text[...], pattern[...])
    }
}

@Suite struct `Filters` {
    private static let seeds = TestRounds.seeds(3, of: 40)
    private static let dates = [time(0), time(5), time(12), time(30)]
    private static let users: [UserID] = ["me", "ann", "Zoë", "unknown"]

    @Test(arguments: seeds) func `find conversations as a loop does (K58)`(seed: UInt64)
        async throws
    {
        let sample = try await SampleStore()
        try await sample.fill(seed: seed)
        let columns = Conversation.columns
        let ids = [conversationID(1), conversationID(2), conversationID(3), conversationID(99)]
        var cases = FilterCase<Conversation>.equality("id", columns.id, ids) { [$0.id] }
        cases += FilterCase.optionalOrder("createdAt", columns.createdAt, Self.dates) {
            [$0.createdAt]
        }
        cases += FilterCase.equality(
            "lastMessage.id", columns.lastMessage.id, [messageID(101), messageID(204), nil]
        ) { [$0.lastMessage?.id] }
        cases += FilterCase.optionalOrder("sentAt", columns.lastMessage.sentAt, Self.dates) {
            [$0.lastMessage?.sentAt]
        }
        cases += FilterCase.optionalOrder("receivedAt", columns.lastMessage.receivedAt, Self.dates)
        {
            [$0.lastMessage?.receivedAt]
        }
        cases += FilterCase.equality("hasUnread", columns.hasUnreadMessages, [true, false]) {
            [$0.hasUnreadMessages]
        }
        cases += FilterCase.order("unreadCount", columns.unreadCount, [0, 1, 2, 9]) {
            [$0.unreadCount]
        }
        cases += FilterCase.equality("isDistinct", columns.isDistinct, [true, false]) {
            [$0.isDistinct]
        }
        cases += FilterCase.equality("isParticipant", columns.isParticipant, [true, false]) {
            [$0.isParticipant]
        }
        for path in ["color", "a.b", "a", "none.x"] as [MetadataPath] {
            let column = columns.metadata[path]
            let read: (Conversation) -> [String?] = { [$0.metadata[path]?.text] }
            cases += FilterCase.optionalOrder("\(path)", column, ["red", "blue", ""], read)
            cases += FilterCase.like("\(path)", column, read)
        }
        for set in [[], ["ann"], ["ann", "bob"], ["me", "Zoë"]] as [Set<UserID>] {
            let all = set.union(["me"])
            cases.append(
                FilterCase(name: "participants == \(set)", filter: columns.participants == set) {
                    Set($0.participants.map(\.id)) == all
                })
            cases.append(
                FilterCase(name: "participants != \(set)", filter: columns.participants != set) {
                    Set($0.participants.map(\.id)) != all
                })
        }
        for user in Self.users {
            cases.append(
                FilterCase(name: "contains \(user)", filter: columns.participants.contains(user)) {
                    $0.participants.map(\.id).contains(user)
                })
        }
        try await check(cases, sample, try await sample.conversations(), seed)
    }

    @Test(arguments: seeds) func `find messages as a loop does (K58)`(seed: UInt64) async throws {
        let sample = try await SampleStore()
        try await sample.fill(seed: seed)
        let columns = Message.columns
        var cases = FilterCase<Message>.equality(
            "id", columns.id, [messageID(101), messageID(5001)]
        ) {
            [$0.id].map { id in Message.ID(id.value) }
        }
        cases += FilterCase.equality(
            "conversation", columns.conversation, [conversationID(1), conversationID(4), nil]
        ) { [$0.conversation] }
        cases += FilterCase.optionalOrder("position", columns.position, [0, 2, 3, 99]) {
            [$0.position]
        }
        cases += FilterCase.equality("isSent", columns.isSent, [true, false]) { [$0.isSent] }
        cases += FilterCase.equality("isUnread", columns.isUnread, [true, false]) { [$0.isUnread] }
        cases += FilterCase.optionalOrder("sentAt", columns.sentAt, Self.dates) { [$0.sentAt] }
        cases += FilterCase.optionalOrder("receivedAt", columns.receivedAt, Self.dates) {
            [$0.receivedAt]
        }
        cases += FilterCase.optionalOrder("userID", columns.sender.userID, Self.users) {
            [$0.sender.userID]
        }
        let name: (Message) -> [String?] = {
            if case .service(let name) = $0.sender { [name] } else { [nil] }
        }
        cases += FilterCase.optionalOrder("name", columns.sender.name, ["News", "", "x"], name)
        cases += FilterCase.like("name", columns.sender.name, name)
        cases += FilterCase.optionalOrder(
            "displayName", columns.sender.displayName, ["News", "red"]
        ) {
            [$0.sender.displayName]
        }
        cases += FilterCase.like("displayName", columns.sender.displayName) {
            [$0.sender.displayName]
        }
        cases += FilterCase.order("mimeType", columns.parts.mimeType, ["text/plain", "image/png"]) {
            $0.parts.map(\.mimeType)
        }
        cases += FilterCase.like("mimeType", columns.parts.mimeType) { $0.parts.map(\.mimeType) }
        cases += FilterCase.order("size", columns.parts.size, [0, 2000, 9000]) {
            $0.parts.map(\.size)
        }
        cases += FilterCase.order(
            "status", columns.parts.transferStatus, [.awaitingUpload, .downloading, .complete]
        ) { $0.parts.map(\.transferStatus) }
        cases += FilterCase.optionalOrder("text", columns.parts.text, ["red", "", "héllo"]) {
            $0.parts.map(\.text)
        }
        cases += FilterCase.like("text", columns.parts.text) { $0.parts.map(\.text) }
        try await check(cases, sample, try await sample.messages(), seed)
    }

    @Test(arguments: seeds) func `find parts as a loop does (K58)`(seed: UInt64) async throws {
        let sample = try await SampleStore()
        try await sample.fill(seed: seed)
        let messages = try await sample.messages()
        let conversations = Dictionary(
            uniqueKeysWithValues: messages.map { ($0.id, $0.conversation) })
        let parts = messages.flatMap(\.parts)
        let columns = MessagePart.columns
        var cases = FilterCase<MessagePart>.equality("id", columns.id, parts.prefix(3).map(\.id)) {
            [$0.id]
        }
        cases += FilterCase.equality("message", columns.message, parts.suffix(3).map(\.message)) {
            [$0.message]
        }
        cases += FilterCase.equality(
            "conversation", columns.conversation, [conversationID(1), conversationID(4), nil]
        ) { [conversations[$0.message] ?? nil] }
        cases += FilterCase.order("index", columns.index, [0, 1, 7]) { [$0.index] }
        cases += FilterCase.order("mimeType", columns.mimeType, ["text/plain", "image/png"]) {
            [$0.mimeType]
        }
        cases += FilterCase.like("mimeType", columns.mimeType) { [$0.mimeType] }
        cases += FilterCase.order("size", columns.size, [0, 2000, 9000]) { [$0.size] }
        cases += FilterCase.order(
            "status", columns.transferStatus, [.awaitingUpload, .downloading, .complete]
        ) { [$0.transferStatus] }
        try await check(cases, sample, parts, seed)
    }

    @Test(arguments: seeds) func `find identities as a loop does (K58)`(seed: UInt64) async throws {
        let sample = try await SampleStore()
        try await sample.fill(seed: seed)
        let columns = Identity.columns
        var cases = FilterCase<Identity>.order("id", columns.id, Self.users) { [$0.id] }
        let texts: [(String, Column<Identity, String?>, (Identity) -> [String?])] = [
            ("displayName", columns.displayName, { [$0.displayName] }),
            ("firstName", columns.firstName, { [$0.firstName] }),
            ("lastName", columns.lastName, { [$0.lastName] }),
            ("emailAddress", columns.emailAddress, { [$0.emailAddress] }),
            ("phoneNumber", columns.phoneNumber, { [$0.phoneNumber] }),
            ("publicKey", columns.publicKey, { [$0.publicKey] }),
            ("metadata", columns.metadata["a.b"], { [$0.metadata["a.b"]?.text] }),
            ("metadata", columns.metadata["c"], { [$0.metadata["c"]?.text] }),
        ]
        for (name, column, read) in texts {
            cases += FilterCase.optionalOrder(name, column, ["red", "blue", "héllo", ""], read)
            cases += FilterCase.like(name, column, read)
        }
        cases += FilterCase.equality(
            "avatarURL", columns.avatarURL, [URL(string: "https://a.example/1"), nil]
        ) { [$0.avatarURL] }
        cases += FilterCase.equality("isFollowed", columns.isFollowed, [true, false]) {
            [$0.isFollowed]
        }
        try await check(cases, sample, try await sample.identities(), seed)
    }

    /// Compares each filter, and random combinations of them, with their conditions.
    private func check<Element>(
        _ cases: [FilterCase<Element>], _ sample: SampleStore, _ elements: [Element], _ seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed)
        let all = cases + (0..<200).map { _ in Self.combination(of: cases, 3, &random) }
        for test in all {
            let query = Query<Element>(where: { _ in test.filter })
            let expected = Set(elements.filter(test.matches).map(\.id))
            let ids = try await sample.runner.ids(query)
            #expect(Set(ids) == expected && ids.count == expected.count, "\(test.name)")
            #expect(try await sample.runner.count(query) == expected.count, "\(test.name)")
        }
        let everything = try await sample.runner.fetch(Query<Element>())
        #expect(everything.count == elements.count)
        for element in everything { #expect(elements.contains(element)) }
    }

    private static func combination<Element>(
        of cases: [FilterCase<Element>], _ depth: Int, _ random: inout SeededGenerator
    ) -> FilterCase<Element> {
        guard depth > 0 else { return random.one(of: cases) }
        let left = combination(of: cases, depth - 1, &random)
        switch random.below(3) {
        case 0:
            return FilterCase(name: "!(\(left.name))", filter: !left.filter) { !left.matches($0) }
        case 1:
            let right = combination(of: cases, depth - 1, &random)
            return FilterCase(
                name: "(\(left.name) && \(right.name))", filter: left.filter && right.filter
            ) { left.matches($0) && right.matches($0) }
        default:
            let right = combination(of: cases, depth - 1, &random)
            return FilterCase(
                name: "(\(left.name) || \(right.name))", filter: left.filter || right.filter
            ) { left.matches($0) || right.matches($0) }
        }
    }
}
