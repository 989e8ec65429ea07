/// The type of an event of the server's own log. Raw values never change once released.
public enum AuditEventType: String, CaseIterable, Sendable {
    case operatorLoggedIn = "operator.logged_in"
    case operatorLoginFailed = "operator.login_failed"
    case operatorLoggedOut = "operator.logged_out"
    case operatorPasswordSet = "operator.password_set"
    case operatorRemoved = "operator.removed"
    case linkCreated = "link.created"
    case linkUsed = "link.used"
    case sessionEnded = "session.ended"
    case contentViewed = "content.viewed"
    case settingsViewed = "settings.viewed"
    case applicationCreated = "application.created"
    case applicationRenamed = "application.renamed"
    case applicationSuspended = "application.suspended"
    case applicationResumed = "application.resumed"
    case tokenCreated = "token.created"
    case tokenRevoked = "token.revoked"
    case uploadCancelled = "upload.cancelled"
    case jobStarted = "job.started"
    case jobFinished = "job.finished"
    case jobFailed = "job.failed"
    case jobDeleted = "job.deleted"
}

/// Where a change of the server comes from: the account and the request.
public struct AuditOrigin: Equatable, Sendable {
    /// The name of the operator, or `token:` and the id of a token; `nil` for a command and for an unknown account.
    public let actor: String?
    /// The address of the client; `nil` for a command.
    public let address: String?
    /// The id of the request; `nil` for a command.
    public let request: String?

    /// All members.
    public init(actor: String?, address: String?, request: String?) {
        self.actor = actor
        self.address = address
        self.request = request
    }

    /// A command on the server's machine.
    public static let command = AuditOrigin(actor: nil, address: nil, request: nil)
}

/// An event of the server's own log: logins, and what operators do to the server.
public struct AuditEvent: Equatable, Sendable {
    /// The position: 1, 2, 3 … without gaps.
    public let position: LogPosition
    /// The moment of recording.
    public let at: Timestamp
    /// The type.
    public let type: AuditEventType
    /// The account and the request.
    public let origin: AuditOrigin
    /// The name or id of what it is about: an operator, a session, a token, a conversation; `nil` for none.
    public let subject: String?
    /// The application it is about; `nil` for none.
    public let application: Application.ID?
    /// How often it happened; 1 unless repetitions were only counted.
    public let count: Int64

    /// All members.
    public init(
        position: LogPosition, at: Timestamp, type: AuditEventType, origin: AuditOrigin,
        subject: String?, application: Application.ID?, count: Int64
    ) {
        self.position = position
        self.at = at
        self.type = type
        self.origin = origin
        self.subject = subject
        self.application = application
        self.count = count
    }

    /// How long events are kept, in milliseconds: 400 days.
    public static let retention: Int64 = 400 * 86_400_000
}
