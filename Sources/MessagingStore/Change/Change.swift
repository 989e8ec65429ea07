import Messaging

/// What processes that share a database tell each other of, each with a number.
enum Change: Equatable {
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
