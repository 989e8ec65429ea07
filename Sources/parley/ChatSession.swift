import Dispatch
import FoundationEssentials
import ParleyKit

/// A chat in the terminal: reads lines, and prints what changes.
struct ChatSession {
    private let client: ParleyClient
    private let printer: ChatPrinter
    /// The conversations as `/list` has numbered them.
    private var listed: [Conversation] = []
    private var open: Conversation.ID?
    /// Prints the messages of the open conversation.
    private var follower: Task<Void, Never>?

    init(_ client: ParleyClient, of user: UserID) {
        self.client = client
        printer = ChatPrinter(for: user)
    }

    private static let help = """
        /list              the conversations, numbered
        /open N            open a conversation of the list
        /new USER …        open the conversation with these users
        /older             receive older messages
        /read              mark everything in the conversation as read
        /attach FILE [MIME] send a file, such as /attach film.mp4 video/mp4
        /get N             download what message N holds into the current folder
        /set KEY TEXT      set metadata, such as /set topic rent
        /add USER …        add participants
        /typing            tell the others that you write
        /delete N          delete message N for all
        /retry N           send message N again, which was refused
        /discard N         discard message N, which was not sent
        /queue             what waits to be sent
        /offline, /online  disconnect, connect
        /quit
        Anything else is sent to the open conversation.
        """

    /// Runs until the input ends or `/quit`.
    mutating func run() async throws {
        try await authenticate()
        client.connect()
        let observers = observe()
        defer { for observer in observers { observer.cancel() } }
        try await list()
        for await line in Self.inputLines() {
            do {
                guard try await perform(line) else { break }
            } catch let error as ParleyError {
                printer.print("! \(error.message)")
            } catch {
                printer.print("! No conversation is open; /open N or /new USER opens one.")
            }
        }
        follower?.cancel()
        await sendRest()
    }

    /// Begins the first session; without a network an older one is enough.
    private func authenticate() async throws(ParleyError) {
        do throws(ParleyError) {
            try await client.authenticate()
        } catch {
            guard error.isTransient, try await client.user != nil else { throw error }
            printer.print("* \(error.message)")
        }
    }

    /// Gives what was written last a moment to reach the server; the rest is sent the next time.
    private func sendRest() async {
        for _ in 0..<50 {
            guard client.connection == .live, let waiting = try? await unsent(), !waiting.isEmpty
            else { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Lines of standard input, read by a thread of their own because reading blocks.
    private static func inputLines() -> AsyncStream<String> {
        AsyncStream { continuation in
            DispatchQueue(label: "parley.chat.input").async {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    private func observe() -> [Task<Void, Never>] {
        let (client, printer) = (client, printer)
        return [
            Task {
                for await state in client.connections { printer.show(state) }
            },
            Task {
                for await failure in client.failures {
                    printer.print("! \(failure.object): \(failure.error.message)")
                }
            },
            Task {
                for await transfer in client.transfers {
                    // One task for each, because several run at once.
                    Task {
                        for await progress in transfer.updates {
                            printer.show(progress, of: transfer)
                        }
                    }
                }
            },
            Task {
                for await signal in client.signals {
                    if case .typing(.started, let user, _) = signal {
                        printer.print("* \(user) is typing")
                    }
                }
            },
        ]
    }

    // MARK: - Commands

    /// - Returns: Whether to go on.
    private mutating func perform(_ line: String) async throws -> Bool {
        let words = line.split(separator: " ").map(String.init)
        guard let command = words.first, command.hasPrefix("/") else {
            if !words.isEmpty { try await client.send([.text(line)], to: try requireOpen()) }
            return true
        }
        let arguments = words.dropFirst()
        switch command {
        case "/help": printer.print(Self.help)
        case "/list": try await list()
        case "/open":
            // The list may have been empty because nothing had arrived when it was made.
            if listed.isEmpty { try await list() }
            guard let number = arguments.first.flatMap({ Int($0) }),
                listed.indices.contains(number - 1)
            else {
                printer.print("! /open needs a number of the list")
                return true
            }
            follow(listed[number - 1].id)
        case "/new":
            follow(try await client.newConversation(with: Set(arguments.map { UserID($0) })).id)
        case "/older":
            let count = try await client.loadOlder(20, in: try requireOpen())
            printer.print("* \(count) older messages")
        case "/read": try await client.markAllAsRead(in: try requireOpen())
        case "/set":
            guard arguments.count >= 2, let key = arguments.first else {
                printer.print("! /set needs a key and a text")
                return true
            }
            try await client.setMetadata(
                .text(arguments.dropFirst().joined(separator: " ")), at: try MetadataPath(key),
                of: try requireOpen())
        case "/add":
            try await client.add(Set(arguments.map { UserID($0) }), to: try requireOpen())
        case "/typing": client.sendTyping(.started, in: try requireOpen())
        case "/attach":
            guard let path = arguments.first else {
                printer.print("! /attach needs the path of a file")
                return true
            }
            let type = arguments.dropFirst().first ?? "application/octet-stream"
            try await client.send(
                [.file(URL(filePath: path), mimeType: type)], to: try requireOpen())
        case "/get": try await download(arguments.first)
        case "/delete", "/retry", "/discard":
            try await change(arguments.first, by: command)
        case "/queue":
            let waiting = try await unsent()
            printer.print("* \(waiting.count) messages wait to be sent")
            for message in waiting { printer.show(message) }
        case "/offline": await client.disconnect()
        case "/online":
            client.connect()
            client.kick()
        case "/quit": return false
        default: printer.print("! There is no command \(command); /help lists them.")
        }
        return true
    }

    private func download(_ number: String?) async throws(ParleyError) {
        guard let number = number.flatMap({ Int($0) }), let id = printer.message(number),
            let message = try await client.message(id)
        else {
            printer.print("! /get needs the number of a message")
            return
        }
        let folder = URL(filePath: FileManager.default.currentDirectoryPath)
        for part in message.parts where part.inline == nil {
            try await client.download(part.id).wait()
            guard let file = try await client.content(of: part.id)?.fileURL else { continue }
            let copy = folder.appending(path: "parley-\(number)-\(part.index)")
            do {
                try FileManager.default.copyItem(at: file, to: copy)
                printer.print("* \(copy.path)")
            } catch {
                printer.print("! \(copy.path) cannot be written")
            }
        }
    }

    private func change(_ number: String?, by command: String) async throws(ParleyError) {
        guard let number = number.flatMap({ Int($0) }), let id = printer.message(number) else {
            printer.print("! \(command) needs the number of a message")
            return
        }
        switch command {
        case "/delete": try await client.delete(id, .allParticipants)
        case "/retry": try await client.retry(id)
        default: try await client.discard(id)
        }
    }

    /// Thrown by commands of the open conversation if there is none.
    private struct NoConversationOpen: Error {}

    private func requireOpen() throws(NoConversationOpen) -> Conversation.ID {
        guard let open else { throw NoConversationOpen() }
        return open
    }

    private mutating func list() async throws(ParleyError) {
        listed = try await client.fetch(Query<Conversation>(limit: 50))
        if listed.isEmpty { printer.print("* no conversation; /new USER opens one") }
        for (index, conversation) in listed.enumerated() {
            printer.show(conversation, number: index + 1)
        }
    }

    private func unsent() async throws(ParleyError) -> [Message] {
        try await client.fetch(Query<Message>(where: { $0.isSent == false }))
    }

    /// Opens a conversation: prints its newest messages, and then what changes.
    private mutating func follow(_ id: Conversation.ID) {
        follower?.cancel()
        open = id
        printer.begin(id)
        let sets = client.results(
            Query<Message>(where: { $0.conversation == id }), window: .last(20))
        follower = Task { [client, printer] in
            do throws(ParleyError) {
                for try await set in sets {
                    for message in set.elements { printer.show(message) }
                    let unread = set.elements.filter(\.isUnread).map(\.id)
                    try await client.markAsRead(Set(unread))
                }
            } catch {
                printer.print("! \(error.message)")
            }
        }
    }
}
