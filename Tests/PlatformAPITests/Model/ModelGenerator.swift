import MessagingWire
import TestSupport

/// Random operations by seed: the same seed makes the same sequence, whatever a server answers.
struct ModelGenerator {
    private var dice: SeededGenerator
    private var chats: [Int] = []
    private var messages: [Int] = []
    private var announcements: [Int] = []
    private let users: [ModelUser]
    /// Sets of participants that come again and again, so that distinct conversations match.
    private let usualSets: [[ModelUser]]
    /// Users that may take part in a conversation: an actor is mostly one of them.
    private var members: [Int: [ModelUser]] = [:]
    private var chatOfMessage: [Int: Int] = [:]
    /// Conversations that an operation deletes for all: few operations go there afterwards.
    private var deleted: Set<Int> = []

    init(seed: UInt64) {
        // Neighbouring seeds of the generator make the same numbers, one step apart.
        dice = SeededGenerator(seed &* 0xD134_2543_DE82_EF95)
        // Few users meet often, all of them now and then.
        users =
            dice.once(in: 3) ? ModelUser.all : Array(ModelUser.all.shuffled(using: &dice).prefix(4))
        usualSets = [Array(users.prefix(2)), Array(users.prefix(3)), Array(users.suffix(2))]
    }

    static func sequence(seed: UInt64, count: Int) -> [ModelOperation] {
        var generator = ModelGenerator(seed: seed)
        return (1...count).map { number in generator.operation(number) }
    }

    private mutating func operation(_ number: Int) -> ModelOperation {
        let version = dice.one(of: APIVersion.allCases)
        let action = action(number, version)
        var operation = ModelOperation(
            number: number, version: version, pause: dice.one(of: [0, 0, 0, 1, 3]), action: action)
        switch action {
        case .create(let user, let named, _, _, _):
            chats.append(number)
            members[number] = named + [user].compactMap(\.self)
        case .send(let chat, _, _, _):
            messages.append(number)
            chatOfMessage[number] = chat
        case .patch(let chat, _, let changes, _):
            for case .add(let user) in changes { members[chat]?.append(user) }
            for case .set(let users) in changes { members[chat]?.append(contentsOf: users) }
        case .deleteConversation(let chat, _, .forAll): deleted.insert(chat)
        case .announce: announcements.append(number)
        default: break
        }
        operation.reads = (0..<3).map { _ in read() }
        return operation
    }

    private mutating func action(_ number: Int, _ version: APIVersion) -> ModelOperation.Action {
        guard !chats.isEmpty else { return create(number) }
        switch dice.number(1...100) {
        case 1...9: return create(number)
        case 10...42: return send(number, version)
        case 43...55: return patch(version)
        case 56...60:
            let chat = chat()
            let user = dice.once(in: 8) ? nil : actor(in: chat)
            let deletion: ModelOperation.Deletion =
                user == nil || dice.once(in: 8)
                ? .forAll : dice.one(of: [.forMe, .forMe, .leaving])
            return .deleteConversation(chat, by: user, deletion)
        case 61...66:
            let message = message()
            let user = dice.once(in: 4) ? nil : actor(on: message)
            return .deleteMessage(message, by: user, forAll: user == nil || dice.once(in: 3))
        case 67...70 where version.namesIdentities:
            let change: ModelOperation.PartsChange =
                switch dice.below(3) {
                case 0: .add(text())
                case 1: .replaceAll(dice.once(in: 2) ? [text()] : [text(), text()])
                default: .remove(index: dice.below(3))
                }
            let message = message()
            return .changeParts(
                message, by: dice.once(in: 2) ? nil : actor(on: message), change)
        case 67...75:
            let message = message()
            return .receipt(message, by: actor(on: message), isRead: !dice.once(in: 3))
        case 76...81:
            let last: Int? = dice.once(in: 2) ? nil : message()
            let chat = last.flatMap { chatOfMessage[$0] } ?? chat()
            return .readAll(
                chat, by: actor(in: chat), upTo: last, plus: dice.one(of: [0, 0, -1, 1, 1 << 40]))
        case 82: return .again(max(1, number - dice.number(1...9)))
        case 83...88: return .block(user(), user(), isAdded: !dice.once(in: 3))
        case 89...90: return announce(number, version)
        case 91...92:
            return dice.once(in: 3)
                ? .deleteAnnouncement(announcement(), by: user())
                : .announcementReceipt(announcement(), by: user(), isRead: dice.once(in: 2))
        case 93...95: return .identity(user(), identity())
        case 96: return .suspend(user(), dice.once(in: 2))
        case 97: return .setBadge(user(), Int64(dice.one(of: [0, 7, 1 << 31, (1 << 36) - 1])))
        default:
            var mistake = dice.one(of: ModelMistake.all)
            mistake.conversation = chat()
            return .mistake(mistake)
        }
    }

    // MARK: - Operations

    private mutating func create(_ number: Int) -> ModelOperation.Action {
        var named =
            dice.once(in: 2)
            ? dice.one(of: usualSets).shuffled(using: &dice) : dice.some(of: users)
        if named.isEmpty, !dice.once(in: 4) { named = [user()] }
        if dice.once(in: 3), let first = named.first { named.append(first) }
        let metadata: LogCopy.Tree? = dice.once(in: 3) ? tree(2, isObject: true) : nil
        return .create(
            by: dice.once(in: 2) ? nil : user(), named, isDistinct: dice.once(in: 2),
            metadata: metadata, own: ownID(number, chats))
    }

    private mutating func send(_ number: Int, _ version: APIVersion) -> ModelOperation.Action {
        let chat = chat()
        let author: ModelOperation.Author =
            switch dice.below(5) {
            case 0 where !version.namesIdentities || dice.once(in: 8): .service("Shop")
            case 0, 1: .system(actor(in: chat))
            default: .user(actor(in: chat))
            }
        let parts = dice.list(1...2) { dice in
            ModelOperation.Part(text: "t\(dice.below(1000))", hasOwnID: dice.once(in: 3))
        }
        return .send(chat, by: author, parts, own: ownID(number, messages))
    }

    private mutating func patch(_ version: APIVersion) -> ModelOperation.Action {
        let changes = dice.list(1...3) { [users] dice -> ModelOperation.Change in
            let user = dice.one(of: users)
            return switch dice.below(12) {
            case 0...3: .add(user)
            case 4...6: .remove(user)
            case 7: .set(dice.some(of: users))
            case 8...10: .write(Self.path(&dice), Self.tree(2, isObject: false, &dice))
            default: .erase(Self.path(&dice))
            }
        }
        let chat = chat()
        return .patch(
            chat, by: dice.once(in: 2) ? nil : actor(in: chat), changes,
            ahead: dice.once(in: 6) ? dice.one(of: [-1, 0, 0, 1]) : nil)
    }

    private mutating func announce(
        _ number: Int, _ version: APIVersion
    ) -> ModelOperation.Action {
        let author: ModelOperation.Author =
            version.namesIdentities && !dice.once(in: 8) ? .system(user()) : .service("Shop")
        return .announce(
            dice.some(of: users), by: author, text(), own: ownID(number, announcements))
    }

    private mutating func identity() -> ModelOperation.IdentityChange {
        let (name, isBot) = ("N\(dice.below(99)) \u{E9}", dice.once(in: 3))
        return switch dice.below(5) {
        case 0, 1: .create(name, isBot: isBot)
        case 2: .replace(name, isBot: isBot)
        case 3: .rename(name)
        default: .delete
        }
    }

    /// Mostly none, else a new one or that of an earlier operation.
    private mutating func ownID(_ number: Int, _ earlier: [Int]) -> ModelOperation.OwnID? {
        guard dice.once(in: 3) else { return nil }
        let own =
            dice.once(in: 3) ? earlier.suffix(5).randomElement(using: &dice) ?? number : number
        return dice.once(in: 2) ? .header(own) : .body(own)
    }

    // MARK: - Reads

    private mutating func read() -> ModelRead {
        let size = dice.one(of: [1, 2, 3, 100])
        switch dice.below(16) {
        case 0: return .conversation(chat())
        case 1: return .messages(chat(), size: size, after: dice.once(in: 3) ? message() : nil)
        case 2: return .message(message())
        case 3, 4, 5:
            return .userConversations(
                user(), byLastMessage: dice.once(in: 2), size: size,
                after: dice.once(in: 3) ? chat() : nil)
        case 6, 7:
            let chat = chat()
            return .userConversation(actor(in: chat), chat)
        case 8, 9:
            let last: Int? = dice.once(in: 3) ? message() : nil
            let chat = last.flatMap { chatOfMessage[$0] } ?? chat()
            return .userMessages(actor(in: chat), chat, size: size, after: last)
        case 10:
            let message = message()
            return .userMessage(actor(on: message), message)
        case 11: return .badge(user())
        case 12: return dice.once(in: 2) ? .user(user()) : .blocks(user())
        case 13: return .announcements(user(), size: size, after: nil)
        case 14: return .announcement(announcement(), by: dice.once(in: 3) ? nil : user())
        default:
            return dice.once(in: 3)
                ? .userCount : .conversations(size: size, after: dice.once(in: 3) ? chat() : nil)
        }
    }

    // MARK: - Choices

    private mutating func user() -> ModelUser { dice.one(of: users) }

    private mutating func actor(in chat: Int) -> ModelUser {
        guard let members = members[chat], !members.isEmpty, !dice.once(in: 5) else {
            return user()
        }
        return dice.one(of: members)
    }

    private mutating func actor(on message: Int) -> ModelUser {
        actor(in: chatOfMessage[message] ?? 0)
    }

    /// Mostly a young one, so that much happens in few.
    private mutating func chat() -> Int {
        let isAny = dice.once(in: 8)
        return young(isAny ? chats : chats.filter { !deleted.contains($0) }, 6)
    }

    private mutating func message() -> Int { young(messages, 12) }
    private mutating func announcement() -> Int { young(announcements, 4) }

    private mutating func young(_ made: [Int], _ count: Int) -> Int {
        made.suffix(dice.once(in: 10) ? made.count : count).randomElement(using: &dice) ?? 0
    }

    private mutating func text() -> String { "t\(dice.below(1000)) \u{E9}" }

    private mutating func tree(_ depth: Int, isObject: Bool) -> LogCopy.Tree {
        Self.tree(depth, isObject: isObject, &dice)
    }

    private static func path(_ dice: inout SeededGenerator) -> [String] {
        dice.list(1...3) { dice in dice.one(of: ["a", "b", "c"]) }
    }

    private static func tree(
        _ depth: Int, isObject: Bool, _ dice: inout SeededGenerator
    ) -> LogCopy.Tree {
        guard isObject || (depth > 0 && dice.once(in: 3)) else {
            return .text(dice.one(of: ["x", "y", ""]))
        }
        return .object(
            dice.some(of: ["a", "b", "c"]).reduce(into: [:]) { members, key in
                members[key] = tree(depth - 1, isObject: false, &dice)
            })
    }
}
