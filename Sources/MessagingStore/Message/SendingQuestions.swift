import Messaging
import SQL

/// What a sending asks before it decides: all at once, so that over a network it is one round trip.
struct SendingQuestions {
    /// Where to, by its own id; an alias finds none.
    private let conversation: DeferredRows<Conversation>
    /// Whom it reaches there.
    private let listeners: DeferredRows<Listener>
    /// The part of the user on whose behalf it is.
    private let part: DeferredRows<Participant>?
    /// What is known of the user who sends.
    private let sender: DeferredRows<BasicIdentity>?
    /// Whether its names are those of anything; `nil` without a name.
    private let isKnown: DeferredRows<Bool>?

    /// - Parameters:
    ///   - user: On whose behalf; `nil` for the system.
    ///   - names: The id it proposes and its key.
    init(
        _ transaction: Transaction, to conversation: Conversation.ID, from sender: UserID?,
        by user: UserID?, names: [[UInt8]], in application: Application.ID
    ) throws {
        self.conversation = try transaction.askLocked(conversation, in: application)
        // Recording the event needs the end of the log; asked here, it travels along. It is locked before the
        // blocks are read, so no other process changes these between that and the message's event.
        _ = try transaction.askLogEnd(in: application)
        listeners = try transaction.askListeners(
            in: conversation, to: sender, in: application)
        part = try user.map { user in
            try transaction.askParticipant(user, in: conversation, in: application)
        }
        self.sender = try sender.map { sender in
            try transaction.askIdentity(of: sender, in: application)
        }
        isKnown =
            names.isEmpty ? nil : try transaction.askSendings(named: names, in: application)
    }

    /// Where to, with who takes part and whom it reaches; `nil` for an alias, or for nothing.
    func target() throws -> (conversation: Conversation, listeners: [Listener])? {
        guard var found = try conversation.first() else { return nil }
        let listeners = try listeners.rows()
        found.participants = Participants(listeners.map(\.user))
        return (found, listeners)
    }

    /// The part the user has there.
    func ownPart() throws -> Participant? { try part?.first() }

    /// What is known of the user who sends; `nil` when nobody has named him.
    func identity() throws -> BasicIdentity? { try sender?.first() }

    /// Whether nothing was ever sent, or is to be sent, under any of its names.
    func isNew() throws -> Bool { try isKnown?.first() != true }
}

extension Transaction {
    /// Whether messages, or keys of sendings, have one of some names.
    fileprivate func askSendings(
        named names: [[UInt8]], in application: Application.ID
    ) throws -> DeferredRows<Bool> {
        try ask(
            """
            SELECT EXISTS (
                SELECT 1 FROM messages
                WHERE application = \(application) AND id IN (\(few: names))
            ), EXISTS (
                SELECT 1 FROM replay_keys
                WHERE application = \(application) AND kind IN (\(list: Replay.Kind.sendingNames))
                    AND replay_key IN (\(few: names))
            )
            """,
            as: names.count > 1
                ? nil : RowCacheKey(of: application.bytes + names[0], in: "messages", "replay_keys")
        ) { row in try row.int64(0) + row.int64(1) > 0 }
    }
}
