extension Conversation {
    /// Decides a deletion for all; `nil` when it is done already, as a repeat succeeds (R18).
    public func deleting(at now: Timestamp) -> Event? {
        deletedAt == nil
            ? .conversationRemoved(ConversationRemoved(conversation: self, at: now)) : nil
    }

    /// Decides what a user's deletion changes.
    ///
    /// - Throws: `notFound(.conversation)` where he sees none; `accessDenied` for a former
    ///   participant who would delete it for others (R14).
    public func deleting(
        _ deletion: Deletion, by user: Participant, at now: Timestamp
    ) throws(Rejection) -> [Event] {
        switch deletion {
        case .forAll:
            try user.requireWriting()
            return [deleting(at: now)].compactMap(\.self)
        case .forMe:
            try user.requireReading()
            return [hiding(from: user, upTo: user.leftAfter ?? lastPosition, at: now)]
        case .leaving where user.isFormer:
            try user.requireReading()
            return [hiding(from: user, upTo: nil, at: now)]
        // Also of one he deleted for himself before: he still takes part in it.
        case .leaving:
            try user.requireWriting()
            return try patching([.removeParticipant(user.userID)], MessagingLimits(), at: now)
                + [hiding(from: user, upTo: nil, at: now)]
        }
    }

    private func hiding(from user: Participant, upTo place: Position?, at now: Timestamp) -> Event {
        .conversationHidden(
            ConversationHidden(conversation: id, user: user.userID, upTo: place, at: now))
    }
}
