import Messaging
import SQL
import SystemSupport

/// A notification between processes that share a database, sent with a number.
enum StoreNotification: Equatable {
    /// The log of an application extends to a position, which is the number.
    case log(of: Application.ID)
    /// A message was scheduled; the number is its due time.
    case due
    /// A webhook has changed, or has deliveries to repeat; the number is a time.
    case webhooks
    /// A request to the process that receives the body of an upload; the number is the request.
    case upload(String, holder: String)

    /// The subject, one word.
    var subject: String {
        switch self {
        case .log(let application): application.uuid
        case .due: "due"
        case .webhooks: "webhooks"
        case .upload(let name, let holder): "upload.\(name).\(holder)"
        }
    }

    /// Parses a subject; `nil` for one of a newer release.
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
    /// Wakes readers of the log and the sender of scheduled messages on commits of other processes to the same
    /// server, until the database is closed. It has no effect on a file.
    ///
    /// - Parameter onUpload: Receives the requests of other processes to the one that receives the body of an
    ///   upload: the name of the upload record, the holder in hexadecimal digits, and the request of
    ///   ``DatabaseUploadRegistry/ask(_:at:to:)``.
    public func listen(
        onUpload: @escaping @Sendable (String, String, Int64) -> Void = { _, _, _ in }
    ) {
        database.listen { notification in
            switch notification {
            case .changed(let subject, let number):
                switch StoreNotification(subject: subject) {
                case .log(let application):
                    signal.advance(to: LogPosition(number), in: application)
                case .due: scheduleSignal.signal(dueAt: Timestamp(milliseconds: number))
                case .webhooks: webhookSignal.signal()
                case .upload(let name, let holder): onUpload(name, holder, number)
                case nil: break
                }
            case .missed: Task { await catchUp() }
            }
        }
    }

    /// Looks for changes whose notifications were missed.
    private func catchUp() async {
        scheduleSignal.signal(dueAt: environment.now())
        webhookSignal.signal()
        let awaited = signal.awaited
        for application in awaited {
            // If this fails, waiting readers poll a little later.
            let end = try? await database.read { try $0.endOfLog(in: application) }
            if let end { signal.advance(to: end, in: application) }
        }
    }
}
