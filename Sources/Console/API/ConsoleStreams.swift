import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import SystemSupport

/// The event streams of the console, each of which ends with its session.
///
/// One task looks every half second, while there are streams, which sessions have ended: also in other processes, which
/// do not report it.
final class ConsoleStreams: Sendable {
    /// The most streams at once.
    static let limit = 20
    /// The answer to a stream above the limit.
    static let full = APIError.rateLimited(
        "The console has \(limit) event streams open, and may have no more.", retryAfter: 5)
    /// In milliseconds.
    private static let interval: Int64 = 500

    private struct Entry {
        weak var stream: EventStream?
        let session: ConsoleSession.ID
    }

    private struct State {
        var entries: [Entry] = []
        var isWatching = false
    }

    private let store: MessagingStore
    private let lifetimes: ConsoleLifetimes
    private let state = Locked(State())

    init(store: MessagingStore, lifetimes: ConsoleLifetimes) {
        self.store = store
        self.lifetimes = lifetimes
    }

    /// Watches a stream.
    ///
    /// - Returns: False if there are too many.
    func add(_ stream: EventStream, of session: ConsoleSession.ID) -> Bool {
        let (isAdded, starts) = state.withLock { state -> (Bool, Bool) in
            state.entries.removeAll { entry in entry.stream == nil }
            guard state.entries.count < Self.limit else { return (false, false) }
            state.entries.append(Entry(stream: stream, session: session))
            defer { state.isWatching = true }
            return (true, !state.isWatching)
        }
        if starts { Task { [weak self] in await self?.watch() } }
        return isAdded
    }

    private func watch() async {
        while true {
            await pause(milliseconds: Self.interval)
            let sessions = state.withLock { state -> Set<ConsoleSession.ID> in
                state.entries.removeAll { entry in entry.stream == nil }
                if state.entries.isEmpty { state.isWatching = false }
                return Set(state.entries.map(\.session))
            }
            guard !sessions.isEmpty else { return }
            for session in sessions {
                // While the database is unreachable it is unknown whether a session has ended; its requests fail.
                guard let isOpen = try? await store.hasConsoleSession(session, lifetimes) else {
                    continue
                }
                if !isOpen { end(session) }
            }
        }
    }

    private func end(_ session: ConsoleSession.ID) {
        let ended = state.withLock { state in
            let ended = state.entries.filter { entry in entry.session == session }
                .compactMap(\.stream)
            state.entries.removeAll { entry in entry.session == session }
            return ended
        }
        for stream in ended {
            if let event = EncodedEvent(data: "{}", name: "end") { stream.send(event) }
            stream.close()
        }
    }
}

/// The conversations and applications whose contents each session has read, so that each is recorded once.
final class ViewedContents: Sendable {
    /// The most that are remembered; then all are forgotten, and recorded again.
    private static let capacity = 10_000

    /// A conversation in an application, or any of its conversations.
    struct Place: Hashable, Sendable {
        let application: Application.ID
        let conversation: Conversation.ID?

        /// The place of what a response shows; a message names its conversation.
        init(_ shown: ShownContents, in response: Response) {
            application = shown.application
            let message =
                shown.isOfMessage
                ? response.content.joinedBytes.flatMap { bytes in try? JSONDocument(bytes).root }
                : nil
            conversation =
                shown.conversation
                ?? message?["conversation"]?["id"]?.string.flatMap { text in
                    IdentifierJSON.read(text, in: .conversations)
                }
        }
    }

    private struct View: Hashable {
        let place: Place
        let session: ConsoleSession.ID
    }

    private let views = Locked<Set<View>>([])

    /// Whether the session reads it for the first time.
    func isFirst(_ place: Place, in session: ConsoleSession.ID) -> Bool {
        views.withLock { views in
            if views.count >= Self.capacity { views.removeAll() }
            return views.insert(View(place: place, session: session)).inserted
        }
    }

    /// Forgets that it was read.
    func forget(_ place: Place, in session: ConsoleSession.ID) {
        _ = views.withLock { views in views.remove(View(place: place, session: session)) }
    }
}
