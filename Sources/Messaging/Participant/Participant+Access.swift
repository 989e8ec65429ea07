extension Participant {
    /// Reading wants the conversation in his view, whether he still takes part or not (R14).
    ///
    /// - Throws: `notFound`: not announced to him yet, deleted for himself, or left (R16, R17, R51).
    public func requireReading() throws(Rejection) {
        guard state == .shown else { throw .notFound(.conversation) }
    }

    /// Writing wants a participant of now; one who deleted it for himself still may (rulings 15).
    ///
    /// - Throws: `notFound` while he cannot know that it is there (R51); `accessDenied` when he
    ///   takes part no more (R10, R14).
    public func requireWriting() throws(Rejection) {
        guard state != .unseen else { throw .notFound(.conversation) }
        guard !isFormer else { throw .accessDenied }
    }
}
