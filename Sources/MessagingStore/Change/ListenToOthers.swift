import Locking
import Messaging
import SQL

extension MessagingStore {
    /// Has readers of the log, and the sender of scheduled messages, woken by what other processes commit
    /// to the same server, until the database is closed. On a file it does nothing.
    ///
    /// - Parameter onUpload: Told what another process asks of the one that receives the body of an upload: the
    ///   name of its record, the holder in hexadecimal digits, and the request of
    ///   ``askUploadWriter(_:holder:request:)``.
    public func listen(
        onUpload: @escaping @Sendable (String, String, Int64) -> Void = { _, _, _ in }
    ) {
        database.listen { hint in
            switch hint {
            case .told(let subject, let number):
                switch Change(subject: subject) {
                case .log(let application):
                    signal.advance(to: LogPosition(number), in: application)
                case .due: dueSignal.ring(for: Timestamp(milliseconds: number))
                case .webhooks: webhookSignal.ring()
                case .upload(let name, let holder): onUpload(name, holder, number)
                case nil: break
                }
            case .missed: Task { await catchUp() }
            }
        }
    }

    /// Looks for what nobody has told us of.
    private func catchUp() async {
        dueSignal.ring(for: environment.now())
        webhookSignal.ring()
        let awaited = signal.awaited
        for application in awaited {
            // Who waits looks by himself a little later.
            let end = try? await database.read { try $0.endOfLog(in: application) }
            if let end { signal.advance(to: end, in: application) }
        }
    }
}
