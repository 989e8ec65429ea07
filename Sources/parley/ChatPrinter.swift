import Glibc
import ParleyKit
import SystemSupport

/// Prints the lines of a chat: each message once, and again when it was delivered, read or refused.
final class ChatPrinter: Sendable {
    private let user: UserID

    /// - Parameter user: The user of the chat, of whose messages it shows where they are.
    init(for user: UserID) { self.user = user }

    private struct State {
        /// The last line that was printed of each message.
        var lines: [Message.ID: String] = [:]
        var numbers: [Message.ID: Int] = [:]
        var messages: [Message.ID] = []
        /// How many tenths of each transfer were printed last.
        var tenths: [MessagePart.ID: Int] = [:]
    }

    private let state = Locked(State())

    /// Prints a line. Control characters, which could change the terminal, are replaced.
    func print(_ text: String) {
        let safe = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl =
                        scalar.value < 0x20 && scalar != "\n" || scalar.value == 0x7F
                        || (0x80..<0xA0).contains(scalar.value)
                    return isControl ? "\u{FFFD}" : scalar
                }))
        let bytes = Array("\(safe)\n".utf8)
        // Not through a stream of C: flushing one waits for the lock of standard input, which a reader holds. Safe: the
        // array lives through the call. A closed terminal is ignored.
        _ = unsafe write(1, bytes, bytes.count)
    }

    /// Begins a conversation: its messages are printed again.
    func begin(_ id: Conversation.ID) {
        state.withLock { state in state = State() }
        print("* \(id)")
    }

    /// The message that was printed with a number.
    func message(_ number: Int) -> Message.ID? {
        state.withLock { state in
            state.messages.indices.contains(number - 1) ? state.messages[number - 1] : nil
        }
    }

    /// Prints a message, if it is new or has changed.
    func show(_ message: Message) {
        let text = message.parts.map(Self.text).joined(separator: " ")
        let sender = message.sender.displayName ?? message.sender.userID?.text ?? "?"
        let line = state.withLock { state -> String? in
            let number = state.numbers[message.id] ?? state.messages.count + 1
            if state.numbers[message.id] == nil {
                state.numbers[message.id] = number
                state.messages.append(message.id)
            }
            let line = "\(number) \(sender): \(text)\(status(message))"
            guard state.lines[message.id] != line else { return nil }
            state.lines[message.id] = line
            return line
        }
        if let line { print(line) }
    }

    private static func text(_ part: MessagePart) -> String {
        part.text ?? "[\(part.mimeType), \(part.size) bytes, \(part.transferStatus)]"
    }

    private func status(_ message: Message) -> String {
        guard message.sender.userID == user else { return "" }
        switch message.delivery {
        case .queued: return "  (waits)"
        case .uploading: return "  (uploading)"
        case .sending: return "  (sending)"
        case .blocked: return "  (waits for an earlier message)"
        case .failed(let error): return "  (refused: \(error.message))"
        case .sent: break
        }
        let others = message.recipientStatus.filter { user, _ in user != self.user }
        let readers = others.filter { $0.value == .read }.keys.sorted()
        if !readers.isEmpty {
            return "  (read by \(readers.map(\.text).joined(separator: ", ")))"
        }
        return others.contains { $0.value == .delivered } ? "  (delivered)" : ""
    }

    /// Prints how far a transfer has come, in steps of a tenth.
    func show(_ progress: TransferProgress, of transfer: Transfer) {
        let tenths = Int(progress.fractionCompleted * 10)
        let bar = String(repeating: "#", count: tenths) + String(repeating: ".", count: 10 - tenths)
        let direction = transfer.direction == .upload ? "up" : "down"
        let isNew = state.withLock { state in
            defer { state.tenths[transfer.part] = tenths }
            return state.tenths[transfer.part] != tenths
        }
        guard isNew else { return }
        print("* \(direction) [\(bar)] \(progress.completed) of \(progress.total) bytes")
    }

    /// Prints a conversation of the list.
    func show(_ conversation: Conversation, number: Int) {
        let others = conversation.participants.filter { $0.id != user }
            .map { $0.displayName ?? $0.id.text }
        let last = conversation.lastMessage.map { message in
            "  " + message.parts.map(Self.text).joined(separator: " ").prefix(60)
        }
        let unread = conversation.unreadCount > 0 ? "  (\(conversation.unreadCount) unread)" : ""
        print("\(number) \(others.joined(separator: ", "))\(unread)\(last ?? "")")
    }

    /// Prints a state of the connection, unless it passes quickly.
    func show(_ state: ConnectionState) {
        switch state {
        case .live: print("* connected")
        case .idle: print("* offline")
        case .waiting(_, let error), .unauthenticated(let error): print("* \(error.message)")
        case .connecting, .catchingUp: break
        }
    }
}
