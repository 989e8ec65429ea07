import Locking
import Messaging
import MessagingStore

/// The live ends of the logs of all applications, each made when somebody first reads it live.
final class EventTails: Sendable {
    let store: MessagingStore
    let frames: EventFrames
    private let onFault: @Sendable (any Error) -> Void
    private let tails = Locked<[Application.ID: EventTail]>([:])

    init(
        store: MessagingStore, frames: EventFrames,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.frames = frames
        self.onFault = onFault
    }

    /// The live end of an application's log; without readers it does nothing and holds nothing.
    func tail(of application: Application.ID) -> EventTail {
        tails.withLock { tails in
            if let tail = tails[application] { return tail }
            let tail = EventTail(
                of: application, store: store, frames: frames, onFault: onFault)
            tails[application] = tail
            return tail
        }
    }
}
