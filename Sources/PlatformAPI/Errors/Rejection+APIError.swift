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
            APIError(.accessDenied, "Only the sender of a message changes its parts.")
        case .missing(let name):
            APIError(
                .missingProperty, family.missing(name), data: .property(name))
        case .invalid(let name):
            APIError(
                .invalidProperty, invalid(name), data: .property(name))
        case .invalidOperation:
            APIError(.invalidOperation, "The operation makes no sense here.")
        case .participantBlocked:
            APIError(
                .participantBlocked, "A participant has been blocked by the creator.")
        case .tooMany:
            APIError(
                .invalidOperation, "The filter has too much to look at; narrow it by time.")
        case .keyReused:
            APIError(
                .idempotencyKeyReuse, "The Idempotency-Key was used for another request.")
        case .inProgress:
            APIError(
                .requestInProgress, "The request of this Idempotency-Key is not finished yet.")
        case .positionGone(let oldest):
            APIError(
                .positionGone, "The events up to that position are not kept any more.",
                data: .position(oldest.number))
        case .full(_, let limit):
            APIError(
                .invalidOperation, "There are \(limit) already, and there may be no more.")
        case .idTaken(let subject):
            APIError(.idInUse, taken(subject))
        }
    }

    private static func invalid(_ name: String) -> String {
        let fault = "The value of '\(name)' is not valid"
        return PropertyRule.text(name).map { rule in "\(fault): it has to be \(rule)." }
            ?? "\(fault)."
    }

    /// What stands in the way is shown where the store hands it out, and told of here.
    private static func taken(_ subject: Rejection.Subject) -> String {
        switch subject {
        case .message: "The requested Message already exists"
        case .conversation: "The requested Conversation already exists"
        case .identity: "The requested Identity already exists"
        case .messagePart, .content, .user, .application, .token, .announcement, .export,
            .exportKey, .webhook, .delivery:
            "The requested id is taken."
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
