import JSON
import Messaging
import MessagingWire
import Uploads

extension APIError {
    /// Converts a rejection of the store.
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
                "`participants` names a user that the creator has blocked; unblock the user first.")
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
                "The events up to that position have been deleted; `data.position` is the oldest one that remains.",
                data: .position(oldest.number))
        case .userErased(let user):
            APIError(
                .userErased,
                user.isErased
                    ? "`\(user)` is reserved for an erased user; use another id."
                    : "The user `\(user)` is being erased; retry when the erasure has ended."
            )
        case .full(let subject, let limit):
            APIError(.invalidOperation, full(subject, limit))
        case .idTaken(let subject):
            APIError(.idInUse, taken(subject))
        case .merged(let winner):
            APIError(
                .conversationMerged,
                "The conversation was merged into the one in `data`, where its messages have other positions.",
                data: .object(
                    Array(#"{"id":"\#(IdentifierJSON.text(winner, in: .conversations))"}"#.utf8)))
        }
    }

    private static func full(_ subject: Rejection.Subject, _ limit: Int) -> String {
        let (owner, objects) =
            switch subject {
            case .provider: ("application", "providers")
            case .providerKey: ("provider", "keys")
            case .erasure: ("application", "running erasures")
            default: ("application", "webhooks")
            }
        let advice =
            subject == .erasure
            ? "retry when one of them has ended" : "delete one before creating another"
        return "The \(owner) has \(limit) \(objects) already; \(advice)."
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

    /// The message for an id in use, where the store does not return the existing object.
    private static func taken(_ subject: Rejection.Subject) -> String {
        switch subject {
        case .message: "The requested Message already exists"
        case .conversation: "The requested Conversation already exists"
        case .identity: "The requested Identity already exists"
        case .messagePart, .content, .user, .application, .token, .announcement, .export,
            .exportKey, .webhook, .delivery, .provider, .providerKey, .session, .erasure:
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
        case .erasure: "An Erasure with the specified identifier could not be found."
        case .export: "An Export with the specified identifier could not be found."
        case .webhook: "A Webhook with the specified identifier could not be found."
        case .delivery: "A Delivery with the specified identifier could not be found."
        case .exportKey: "No public key has been set for exports."
        case .provider: "A Provider with the specified identifier could not be found."
        case .providerKey: "A Key with the specified identifier could not be found."
        case .session: "A Session with the specified identifier could not be found."
        }
    }
}

extension APIFamily {
    /// The text for a missing member (platform-api §2.3, webhooks §1.2).
    fileprivate func missing(_ name: String) -> String {
        switch self {
        case .client, .platform: "Object is missing required member '\(name)'"
        case .webhooks: "The \(name) property cannot be omitted."
        }
    }
}

// Errors of a creation, with the object that exists already.
extension APIError {
    /// The existing distinct conversation has other metadata (R7).
    static func distinctConflict(with conversation: [UInt8]) -> APIError {
        APIError(
            .conflict,
            """
            The requested Distinct Conversation was found but had metadata that did not match \
            your request.
            """, data: .object(conversation))
    }

    /// The id in the body names a conversation that exists (platform-api §1.9).
    static func taken(byConversation conversation: [UInt8]) -> APIError {
        APIError(
            .idInUse, "The requested Conversation already exists", data: .object(conversation))
    }

    /// The id in the body names a message that exists (platform-api §1.9).
    static func taken(byMessage message: [UInt8]) -> APIError {
        APIError(.idInUse, "The requested Message already exists", data: .object(message))
    }
}

extension APIError {
    /// The error of an upload that cannot be created.
    ///
    /// - Parameter uploads: The uploads that refused it; the texts name their limits.
    /// - Throws: The upload error itself if it is a fault of the server.
    init(_ error: UploadError, _ uploads: Uploads) throws {
        switch error {
        case .tooLarge(let limit):
            self = APIError(
                Rejection.invalid(
                    "Upload-Content-Length", .uploadLengthLimit, .init(limit: Int(limit))),
                .platform)
        case .tooManyUploads:
            // Uploads stay open until their owner ends them or they expire, so a retry after a second is too early.
            self = .rateLimited(
                "\(uploads.maximumOpenPerOwner) uploads are open, which is the limit; complete or cancel one.",
                retryAfter: 60)
        case .insufficientStorage:
            self.init(
                .serviceUnavailable,
                "The server has no disk space for the content now; retry later.")
        case .quotaExceeded(let limit):
            self.init(
                .quotaExceeded,
                "The application may store \(limit) bytes; this content would exceed that; delete contents first."
            )
        case .busy:
            self.init(.serviceUnavailable, "The server has too many files open; retry later.")
        default: throw error
        }
    }
}

extension APIError {
    /// An invalid line of an import (X10): 400 where it cannot be parsed, else 422.
    init(_ error: ImportError) {
        let field = error.lineError.field
        self.init(
            field == nil ? .invalidRequest : .invalidProperty,
            error.sentence,
            data: .line(error.line, property: field))
    }
}

extension ImportError {
    fileprivate var sentence: String {
        "Line \(line): \(lineError)." + (line > 1 ? " The lines before it are durable." : "")
    }
}

extension APIError {
    /// 422 for a member that is not in the description of the endpoint, under `Prefer: handling=strict`.
    init(_ unknown: JSONSchema.UnknownMember) {
        let path = unknown.path.joined(separator: ".")
        let name = unknown.path.last ?? ""
        let text =
            if let near = NearestName(to: name, of: unknown.known), near.isLikely {
                "\(path.quoted) is not known here; did you mean \(near.name.quoted)?"
            } else {
                "\(path.quoted) is not known here; known are \(unknown.known.map(\.quoted).joined(separator: ", "))."
            }
        self.init(.invalidProperty, text, data: .property(path))
    }
}
