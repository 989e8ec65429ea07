import Messaging
import MessagingWire

extension APIError {
    /// The one place where a rejection becomes an error of the API.
    init(_ rejection: Rejection) {
        switch rejection {
        case .notFound(let subject):
            self.init(.notFound, Self.notFound(subject))
        case .objectDeleted:
            self.init(.objectDeleted, "The referenced conversation has been deleted.")
        case .accessDenied:
            self.init(
                .accessDenied, "You are no longer a participant in the specified Conversation.")
        case .notSender:
            self.init(.accessDenied, "Only the sender of a message changes its parts.")
        case .missing(let name):
            self.init(
                .missingProperty, "Object is missing required member '\(name)'",
                data: .property(name))
        case .invalid(let name):
            self.init(
                .invalidProperty, "The value of '\(name)' is not valid.", data: .property(name))
        case .invalidOperation:
            self.init(.invalidOperation, "The operation makes no sense here.")
        case .participantBlocked:
            self.init(
                .participantBlocked, "A participant has been blocked by the creator.")
        case .tooMany:
            self.init(
                .invalidOperation, "The filter has too much to look at; narrow it by time.")
        case .keyReused:
            self.init(
                .idempotencyKeyReuse, "The Idempotency-Key was used for another request.")
        case .inProgress:
            self.init(
                .requestInProgress, "The request of this Idempotency-Key is not finished yet.")
        case .positionGone(let oldest):
            self.init(
                .positionGone, "The events up to that position are not kept any more.",
                data: .position(oldest.number))
        case .idTaken(let subject):
            self.init(.idInUse, Self.taken(subject))
        }
    }

    /// What stands in the way is shown where the store hands it out, and told of here.
    private static func taken(_ subject: Rejection.Subject) -> String {
        switch subject {
        case .message: "The requested Message already exists"
        case .conversation: "The requested Conversation already exists"
        case .identity: "The requested Identity already exists"
        case .messagePart, .content, .user, .application, .token, .announcement, .export,
            .exportKey:
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
        case .exportKey: "No public key has been set for exports."
        }
    }
}
