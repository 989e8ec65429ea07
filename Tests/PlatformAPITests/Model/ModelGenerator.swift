import MessagingWire
import TestSupport

/// Random operations by seed: the same seed makes the same sequence for any server.
struct ModelGenerator {
    private var random: SeededGenerator
    private var conversations: [Int] = []
    private var messages: [Int] = []
    private var announcements: [Int] = []
    private let users: [ModelUser]
    /// Sets of participants that are used repeatedly, so that distinct conversations match.
    private let usualSets: [[ModelUser]]
    /// Users that may be participants of a conversation: an actor is mostly one of them.
    private var members: [Int: [ModelUser]] = [:]
    private var conversationOfMessage: [Int: Int] = [:]
    /// Conversations deleted for all: few later operations use them.
    private var deleted: Set<Int> = []

    init(seed: UInt64) {
        // Adjacent seeds would make the same numbers, shifted by one.
        random = SeededGenerator(seed &* 0xD134_2543_DE82_EF95)
        // Mostly a few users, sometimes all of them.
        users =
            random.once(in: 3)
            ? ModelUser.all : Array(ModelUser.all.shuffled(using: &random).prefix(4))
        usualSets = [Array(users.prefix(2)), Array(users.prefix(3)), Array(users.suffix(2))]
    }

    static func sequence(seed: UInt64, count: Int) -> [ModelOperation] {
        var generator = ModelGenerator(seed: seed)
        return (1...count).map { number in generator.operation(number) }
    }

    private mutating func operation(_ number: Int) -> ModelOperation {
        let version = random.one(of: APIVersion.allCases)
        let action = action(number, version)
        var operation = ModelOperation(
            number: number, version: version, pause: random.one(of: [0, 0, 0, 1, 3]), action: action
        )
        switch action {
        case .create(let user, let named, _, _, _):
            conversations.append(number)
            members[number] = named + [user].compactMap(\.self)
        case .send(let conversation, _, _, _):
            messages.append(number)
            conversationOfMessage[number] = conversation
        case .patch(let conversation, _, let changes, _):
            for case .add(let user) in changes { members[conversation]?.append(user) }
            for case .set(let users) in changes { members[conversation]?.append(contentsOf: users) }
        case .deleteConversation(let conversation, _, .forAll): deleted.insert(conversation)
        case .announce: announcements.append(number)
        default: break
        }
        operation.reads = (0..<3).map { _ in read() }
        return operation
    }

    private mutating func action(_ number: Int, _ version: APIVersion) -> ModelOperation.Action {
        guard !conversations.isEmpty else { return create(number) }
        switch random.number(1...100) {
        case 1...9: return create(number)
        case 10...42: return send(number, version)
        case 43...55: return patch(version)
        case 56...60:
            let conversation = conversation()
            let user = random.once(in: 8) ? nil : actor(in: conversation)
            let deletion: ModelOperation.Deletion =
                user == nil || random.once(in: 8)
                ? .forAll : random.one(of: [.forMe, .forMe, .leaving])
            return .deleteConversation(conversation, by: user, deletion)
        case 61...66:
            let message = message()
            let user = random.once(in: 4) ? nil : actor(on: message)
            return .deleteMessage(message, by: user, forAll: user == nil || random.once(in: 3))
        case 67...70 where version.namesIdentities:
            let change: ModelOperation.PartsChange =
                switch random.below(3) {
                case 0: .add(text())
                case 1: .replaceAll(random.once(in: 2) ? [text()] : [text(), text()])
                default: .remove(index: random.below(3))
                }
            let message = message()
            return .changeParts(
                message, by: random.once(in: 2) ? nil : actor(on: message), change)
        case 67...75:
            let message = message()
            return .receipt(message, by: actor(on: message), isRead: !random.once(in: 3))
        case 76...81:
            let last: Int? = random.once(in: 2) ? nil : message()
            let conversation = last.flatMap { conversationOfMessage[$0] } ?? conversation()
            return .readAll(
                conversation, by: actor(in: conversation), upTo: last,
                plus: random.one(of: [0, 0, -1, 1, 1 << 40]))
        case 82: return .again(max(1, number - random.number(1...9)))
        case 83...88: return .block(user(), user(), isAdded: !random.once(in: 3))
        case 89...90: return announce(number, version)
        case 91...92:
            return random.once(in: 3)
                ? .deleteAnnouncement(announcement(), by: user())
                : .announcementReceipt(announcement(), by: user(), isRead: random.once(in: 2))
        case 93...95: return .identity(user(), identity())
        case 96: return .suspend(user(), random.once(in: 2))
        case 97: return .setBadge(user(), Int64(random.one(of: [0, 7, 1 << 31, (1 << 36) - 1])))
        default:
            var invalidRequest = random.one(of: InvalidModelRequest.all)
            invalidRequest.conversation = conversation()
            return .invalidRequest(invalidRequest)
        }
    }

    // MARK: - Operations

    private mutating func create(_ number: Int) -> ModelOperation.Action {
        var named =
            random.once(in: 2)
            ? random.one(of: usualSets).shuffled(using: &random) : random.some(of: users)
        if named.isEmpty, !random.once(in: 4) { named = [user()] }
        if random.once(in: 3), let first = named.first { named.append(first) }
        let metadata: LogReplica.Tree? = random.once(in: 3) ? tree(2, isObject: true) : nil
        return .create(
            by: random.once(in: 2) ? nil : user(), named, isDistinct: random.once(in: 2),
            metadata: metadata, own: ownID(number, conversations))
    }

    private mutating func send(_ number: Int, _ version: APIVersion) -> ModelOperation.Action {
        let conversation = conversation()
        let author: ModelOperation.Author =
            switch random.below(5) {
            case 0 where !version.namesIdentities || random.once(in: 8): .service("Shop")
            case 0, 1: .system(actor(in: conversation))
            default: .user(actor(in: conversation))
            }
        let parts = random.list(1...2) { random in
            ModelOperation.Part(text: "t\(random.below(1000))", hasOwnID: random.once(in: 3))
        }
        return .send(conversation, by: author, parts, own: ownID(number, messages))
    }

    private mutating func patch(_ version: APIVersion) -> ModelOperation.Action {
        let changes = random.list(1...3) { [users] random -> ModelOperation.Change in
            let user = random.one(of: users)
            return switch random.below(12) {
            case 0...3: .add(user)
            case 4...6: .remove(user)
            case 7: .set(random.some(of: users))
            case 8...10: .write(Self.path(&random), Self.tree(2, isObject: false, &random))
            default: .erase(Self.path(&random))
            }
        }
        let conversation = conversation()
        return .patch(
            conversation, by: random.once(in: 2) ? nil : actor(in: conversation), changes,
            ahead: random.once(in: 6) ? random.one(of: [-1, 0, 0, 1]) : nil)
    }

    private mutating func announce(
        _ number: Int, _ version: APIVersion
    ) -> ModelOperation.Action {
        let author: ModelOperation.Author =
            version.namesIdentities && !random.once(in: 8) ? .system(user()) : .service("Shop")
        return .announce(
            random.some(of: users), by: author, text(), own: ownID(number, announcements))
    }

    private mutating func identity() -> ModelOperation.IdentityChange {
        let (name, isBot) = ("N\(random.below(99)) \u{E9}", random.once(in: 3))
        return switch random.below(5) {
        case 0, 1: .create(name, isBot: isBot)
        case 2: .replace(name, isBot: isBot)
        case 3: .rename(name)
        default: .delete
        }
    }

    /// Mostly `nil`, else a new id or that of an earlier operation.
    private mutating func ownID(_ number: Int, _ earlier: [Int]) -> ModelOperation.OwnID? {
        guard random.once(in: 3) else { return nil }
        let own =
            random.once(in: 3) ? earlier.suffix(5).randomElement(using: &random) ?? number : number
        return random.once(in: 2) ? .header(own) : .body(own)
    }

    // MARK: - Reads

    private mutating func read() -> ModelRead {
        let size = random.one(of: [1, 2, 3, 100])
        switch random.below(16) {
        case 0: return .conversation(conversation())
        case 1:
            return .messages(
                conversation(), size: size, after: random.once(in: 3) ? message() : nil)
        case 2: return .message(message())
        case 3, 4, 5:
            return .userConversations(
                user(), byLastMessage: random.once(in: 2), size: size,
                after: random.once(in: 3) ? conversation() : nil)
        case 6, 7:
            let conversation = conversation()
            return .userConversation(actor(in: conversation), conversation)
        case 8, 9:
            let last: Int? = random.once(in: 3) ? message() : nil
            let conversation = last.flatMap { conversationOfMessage[$0] } ?? conversation()
            return .userMessages(actor(in: conversation), conversation, size: size, after: last)
        case 10:
            let message = message()
            return .userMessage(actor(on: message), message)
        case 11: return .badge(user())
        case 12: return random.once(in: 2) ? .user(user()) : .blocks(user())
        case 13: return .announcements(user(), size: size, after: nil)
        case 14: return .announcement(announcement(), by: random.once(in: 3) ? nil : user())
        default:
            return random.once(in: 3)
                ? .userCount
                : .conversations(size: size, after: random.once(in: 3) ? conversation() : nil)
        }
    }

    // MARK: - Choices

    private mutating func user() -> ModelUser { random.one(of: users) }

    private mutating func actor(in conversation: Int) -> ModelUser {
        guard let members = members[conversation], !members.isEmpty, !random.once(in: 5) else {
            return user()
        }
        return random.one(of: members)
    }

    private mutating func actor(on message: Int) -> ModelUser {
        actor(in: conversationOfMessage[message] ?? 0)
    }

    /// Mostly a recent one, so that each has many operations.
    private mutating func conversation() -> Int {
        let isAny = random.once(in: 8)
        return recent(isAny ? conversations : conversations.filter { !deleted.contains($0) }, 6)
    }

    private mutating func message() -> Int { recent(messages, 12) }
    private mutating func announcement() -> Int { recent(announcements, 4) }

    private mutating func recent(_ made: [Int], _ count: Int) -> Int {
        made.suffix(random.once(in: 10) ? made.count : count).randomElement(using: &random) ?? 0
    }

    private mutating func text() -> String { "t\(random.below(1000)) \u{E9}" }

    private mutating func tree(_ depth: Int, isObject: Bool) -> LogReplica.Tree {
        Self.tree(depth, isObject: isObject, &random)
    }

    private static func path(_ random: inout SeededGenerator) -> [String] {
        random.list(1...3) { random in random.one(of: ["a", "b", "c"]) }
    }

    private static func tree(
        _ depth: Int, isObject: Bool, _ random: inout SeededGenerator
    ) -> LogReplica.Tree {
        guard isObject || (depth > 0 && random.once(in: 3)) else {
            return .text(random.one(of: ["x", "y", ""]))
        }
        return .object(
            random.some(of: ["a", "b", "c"]).reduce(into: [:]) { members, key in
                members[key] = tree(depth - 1, isObject: false, &random)
            })
    }
}
