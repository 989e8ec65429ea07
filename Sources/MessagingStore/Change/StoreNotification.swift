import Messaging
import SQL
import SystemSupport

/// What processes that share a database tell each other of, each with a number.
enum StoreNotification: Equatable {
    /// The log of an application goes up to a position.
    case log(of: Application.ID)
    /// A message is to be sent at a moment.
    case due
    /// A webhook has changed, or something is to be sent to one; the number is a time.
    case webhooks
    /// The process of a holder, which receives the body of an upload, is asked for something; the number says what.
    case upload(String, holder: String)

    /// One word.
    var subject: String {
        switch self {
        case .log(let application): application.uuid
        case .due: "due"
        case .webhooks: "webhooks"
        case .upload(let name, let holder): "upload.\(name).\(holder)"
        }
    }

    /// Reads it; `nil` for what a newer release may tell of.
    init?(subject: String) {
        if subject == "due" {
            self = .due
        } else if subject == "webhooks" {
            self = .webhooks
        } else if let application = Application.ID(uuid: subject) {
            self = .log(of: application)
        } else {
            let words = subject.split(separator: ".")
            guard words.count == 3, words[0] == "upload" else { return nil }
            self = .upload(String(words[1]), holder: String(words[2]))
        }
    }
}

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
                switch StoreNotification(subject: subject) {
                case .log(let application):
                    signal.advance(to: LogPosition(number), in: application)
                case .due: scheduleSignal.ring(for: Timestamp(milliseconds: number))
                case .webhooks: webhookSignal.signal()
                case .upload(let name, let holder): onUpload(name, holder, number)
                case nil: break
                }
            case .missed: Task { await catchUp() }
            }
        }
    }

    /// Looks for what nobody has told us of.
    private func catchUp() async {
        scheduleSignal.ring(for: environment.now())
        webhookSignal.signal()
        let awaited = signal.awaited
        for application in awaited {
            // Who waits looks by himself a little later.
            let end = try? await database.read { try $0.endOfLog(in: application) }
            if let end { signal.advance(to: end, in: application) }
        }
    }
}
