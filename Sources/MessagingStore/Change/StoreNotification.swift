internal import Bytes
public import Messaging
import SQL
import SystemSupport

/// A notification between processes that share a database: a subject, which is sent with a number.
enum StoreNotification: Equatable {
    /// Events were recorded; the number is the last position of the application's log.
    case log(of: Application.ID)
    /// A message was scheduled; the number is its due time, in milliseconds since 1970 UTC.
    case due
    /// A webhook has changed, or has deliveries to send or to repeat; the number is the time, and is not used.
    case webhooks
    /// A request to the process that receives the body of an upload; the number is the raw value of the request.
    case upload(String, holder: String)
    /// A signal between users, and the process that sends it; the number is not used.
    case signal(of: Application.ID, from: String, [UInt8])

    /// The subject as text, without spaces.
    var subject: String {
        switch self {
        case .log(let application): application.uuid
        case .due: "due"
        case .webhooks: "webhooks"
        case .upload(let name, let holder): "upload.\(name).\(holder)"
        case .signal(let application, let process, let bytes):
            "signal.\(application.uuid).\(process).\(Base64.encodeForURL(bytes))"
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
            if words.count == 3, words[0] == "upload" {
                self = .upload(String(words[1]), holder: String(words[2]))
            } else if words.count == 4, words[0] == "signal",
                let application = Application.ID(uuid: words[1]),
                let bytes = Base64.decodeForURL(words[3])
            {
                self = .signal(of: application, from: String(words[2]), bytes)
            } else {
                return nil
            }
        }
    }
}

extension MessagingStore {
    /// Receives the notifications of all processes that use the same database, until it is closed: wakes log readers,
    /// webhook workers and the sender of scheduled messages. It has no effect on a SQLite file.
    ///
    /// - Parameter onUpload: Receives each request of ``DatabaseUploadRegistry/send(_:to:of:)``: the name of the upload
    ///   record, the holder in hexadecimal digits, and the raw value of the request.
    /// - Parameter onSignal: Receives each signal of ``pass(_:from:in:)`` with its application and the name of the process.
    public func listen(
        onUpload: @escaping @Sendable (String, String, Int64) -> Void = { _, _, _ in },
        onSignal: @escaping @Sendable (Application.ID, String, [UInt8]) -> Void = { _, _, _ in }
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
                case .signal(let application, let process, let bytes):
                    onSignal(application, process, bytes)
                case nil: break
                }
            case .missed: Task { await catchUp() }
            }
        }
    }

    /// Wakes everything that may have missed a notification: the sender of scheduled messages, the webhook workers, and the
    /// readers of logs, also those that have read their log but do not wait yet.
    private func catchUp() async {
        scheduleSignal.signal(dueAt: environment.now())
        webhookSignal.signal()
        // If this fails, the readers find the events when they poll the next time.
        let ends = try? await database.read { transaction in
            try transaction.rows("SELECT application, position FROM log_positions") { row in
                (try row.id(0) as Application.ID, LogPosition(try row.int64(1)))
            }
        }
        for (application, end) in ends ?? [] { signal.advance(to: end, in: application) }
    }
}
