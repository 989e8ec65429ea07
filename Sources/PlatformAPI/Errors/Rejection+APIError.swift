import Messaging
import MessagingWire

extension APIError {
    /// The one place where a rejection becomes an error of the API.
    init(_ rejection: Rejection, _ family: APIFamily) {
        self = Self.error(rejection, family)
    }

    private static func error(_ rejection: Rejection, _ family: APIFamily) -> APIError {
        switch rejection {
        case .notFound(let subject):
            APIError(.notFound, notFound(subject))
        case .objectDeleted:
            APIError(.objectDeleted, "The referenced conversation has been deleted.")
        case .accessDenied:
            APIError(
                .accessDenied, "You are no longer a participant in the specified Conversation.")
        case .notSender:
            APIError(.accessDenied, "Only the sender of a message may change its parts.")
        case .missing(let name):
            APIError(
                .missingProperty, family.missing(name), data: .property(name))
        case .invalid(let name, let rule, let detail):
            APIError(.invalidProperty, rule.sentence(name, detail), data: .property(name))
        case .invalidOperation(let obstacle):
            APIError(.invalidOperation, text(of: obstacle))
        case .participantBlocked:
            APIError(
                .participantBlocked,
                "`participants` names a user whom the creator has blocked; unblock the user first.")
        case .tooMany:
            APIError(
                .invalidOperation,
                "The filter would have to check too many items; narrow it by time.")
        case .keyReused:
            APIError(
                .idempotencyKeyReuse,
                "The `Idempotency-Key` was used for another request; use a new key.")
        case .inProgress:
            APIError(
                .requestInProgress,
                "The request with this `Idempotency-Key` is still in progress; retry later.")
        case .positionGone(let oldest):
            APIError(
                .positionGone,
                "The events up to that position have been deleted; `data.position` is the first one kept.",
                data: .position(oldest.number))
        case .full(_, let limit):
            APIError(
                .invalidOperation,
                "The application has \(limit) webhooks already; delete one before creating another."
            )
        case .idTaken(let subject):
            APIError(.idInUse, taken(subject))
        }
    }

    private static func text(of obstacle: Rejection.Obstacle) -> String {
        switch obstacle {
        case .lastPart:
            "The last part of a message cannot be deleted; delete the message, or add a part first."
        case .noExportKey:
            "Exports need a public key to be encrypted with; set one with PUT …/export_security."
        case .recentExport:
            "A historical export was requested less than 24 hours ago; request the next one later."
        }
    }

    /// What stands in the way is shown where the store hands it out, and told of here.
    private static func taken(_ subject: Rejection.Subject) -> String {
        switch subject {
        case .message: "The requested Message already exists"
        case .conversation: "The requested Conversation already exists"
        case .identity: "The requested Identity already exists"
        case .messagePart, .content, .user, .application, .token, .announcement, .export,
            .exportKey, .webhook, .delivery:
            "The requested id is already in use"
        }
    }

    /// The fixed messages of platform-api §2.3.
    private static func notFound(_ subject: Rejection.Subject) -> String {
        switch subject {
        case .conversation: "A Conversation with the specified identifier could not be found."
        case .message: "A Message with the specified identifier could not be found."
        case .messagePart: "A MessagePart with the specified identifier could not be found."
        case .announcement: "An Announcement with the specified identifier could not be found."
        case .content: "A Content with the specified identifier could not be found."
        case .user: "A user with the specified identifier could not be found."
        case .identity: "A user identity with the specified identifier could not be found."
        case .application: "An application with the specified identifier could not be found."
        case .token: "A token with the specified identifier could not be found."
        case .export: "An Export with the specified identifier could not be found."
        case .webhook: "A Webhook with the specified identifier could not be found."
        case .delivery: "A Delivery with the specified identifier could not be found."
        case .exportKey: "No public key has been set for exports."
        }
    }
}

extension APIFamily {
    /// What is said of a member that is left out (platform-api §2.3, webhooks §1.2).
    fileprivate func missing(_ name: String) -> String {
        switch self {
        case .platform: "Object is missing required member '\(name)'"
        case .webhooks: "The \(name) property cannot be omitted."
        }
    }
}
