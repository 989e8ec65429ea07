import Bytes
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension ConsoleRoute {
    /// The server's own log.
    static let audit = [
        ConsoleRoute(
            .get, "/console/api/events", .operators(.admin),
            parameters: ["after", "before", "order", "at", "types", "limit", "include"],
            isScan: true
        ) { request in try await request.listAuditEvents() }
    ]
}

extension ConsoleRequest {
    /// `GET events`: oldest first, or with `order=desc` newest first.
    fileprivate func listAuditEvents() async throws -> Response {
        var query = AuditQuery()
        query.limit = Int(try count("limit", from: 1, upTo: 1000) ?? 100)
        query.types = try types()
        query.order = try await order()
        let includesText = try includesText()
        let page = try await api.store.auditEvents(query)
        return Response.console { writer in
            writer.object { writer in
                writer.key("events")
                writer.array { writer in
                    for event in page.events { writer.write(event, includesText: includesText) }
                }
                writer.member("next", page.next.number)
                writer.member("scanned", page.scanned)
            }
        }
    }

    private func order() async throws -> LogOrder {
        let after = try count("after", from: 0, upTo: .max).map(LogPosition.init)
        let before = try count("before", from: 0, upTo: .max).map(LogPosition.init)
        let isDescending: Bool
        switch parameter("order") {
        case nil: isDescending = before != nil
        case "asc": isDescending = false
        case "desc": isDescending = true
        default: throw invalid("order", "must be `asc` or `desc`")
        }
        guard let text = parameter("at") else {
            if isDescending, after != nil { throw invalid("after", "needs the order `asc`") }
            if !isDescending, before != nil { throw invalid("before", "needs the order `desc`") }
            return isDescending ? .descending(before: before) : .ascending(after: after)
        }
        guard let moment = TimestampJSON.read(text) else {
            throw invalid("at", "must be a time such as 2030-01-31T00:00:00Z")
        }
        guard after == nil, before == nil else {
            throw invalid("at", "cannot be given together with `after` or `before`")
        }
        let last = try await api.store.auditPosition(before: moment)
        return isDescending
            ? .descending(before: LogPosition(last.number + 1)) : .ascending(after: last)
    }

    private func types() throws -> Set<AuditEventType>? {
        guard let text = parameter("types") else { return nil }
        var types: Set<AuditEventType> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = AuditEventType(rawValue: String(name)) else {
                throw invalid("types", "must be types of events, separated by commas")
            }
            types.insert(type)
        }
        return types
    }

    private func includesText() throws -> Bool {
        switch parameter("include") {
        case nil: return false
        case "text": return true
        default: throw invalid("include", "must be `text`")
        }
    }

    private func invalid(_ name: String, _ rule: String) -> APIError {
        APIError(.invalidProperty, "`\(name)` \(rule).", data: .property(name))
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ event: AuditEvent, includesText: Bool) {
        object { writer in
            writer.member("id", "layer:///server/events/\(event.position.number)")
            writer.member("position", event.position.number)
            writer.member("type", event.type.rawValue)
            writer.member("at", event.at)
            writer.key("actor")
            if let actor = event.origin.actor {
                writer.object { writer in writer.member("name", actor) }
            } else {
                writer.null()
            }
            writer.member("subject", event.subject)
            writer.member("address", event.origin.address)
            writer.member("request_id", event.origin.request)
            writer.key("data")
            writer.object { writer in
                writer.member("application", event.application?.uuid)
                writer.member("count", event.count)
            }
            if includesText { writer.member("text", event.text) }
        }
    }
}

extension AuditEvent {
    /// The event as one line, in the form of `parley log`.
    fileprivate var text: String {
        "\(ISO8601.wholeSeconds(at.milliseconds)) Access: \(sentence)."
    }

    private var sentence: String {
        let about = subject.map { " \(EventLogLine.printable($0))" } ?? ""
        let within = application.map { " in application \($0)" } ?? ""
        let times = count > 1 ? " (\(count) times)" : ""
        return switch type {
        case .operatorLoginFailed:
            "A login\(subject == nil ? "" : " as\(about)") was refused\(times)"
        case .operatorLoggedIn: "\(actor) logged in (session\(about))"
        case .operatorLoggedOut: "\(actor) logged out (session\(about))"
        case .operatorPasswordSet: "\(actor) set the password of operator\(about)"
        case .operatorRemoved: "\(actor) removed operator\(about)"
        case .linkCreated: "\(actor) created a link for operator\(about)"
        case .linkUsed: "\(actor) used a link of operator\(about)"
        case .sessionEnded: "\(actor) ended session\(about)"
        case .contentViewed:
            "\(actor) read messages\(subject == nil ? "" : " of conversation\(about)")\(within)"
        case .settingsViewed: "\(actor) read the settings"
        case .applicationCreated: "\(actor) created application\(about)"
        case .applicationRenamed: "\(actor) renamed an application to\(about)"
        case .applicationSuspended: "\(actor) suspended application\(about)"
        case .applicationResumed: "\(actor) ended the suspension of application\(about)"
        case .tokenCreated: "\(actor) created token\(about)\(within)"
        case .tokenRevoked: "\(actor) revoked token\(about)\(within)"
        case .uploadCancelled: "\(actor) cancelled upload\(about)\(within)"
        case .jobStarted: "\(actor) started job\(about)\(within)"
        case .jobFinished: "Job\(about)\(within) has finished (started by \(actor))"
        case .jobFailed: "Job\(about)\(within) has failed (started by \(actor))"
        case .jobDeleted: "\(actor) deleted job\(about)\(within)"
        }
    }

    /// The account that has caused it.
    private var actor: String {
        guard let name = origin.actor else { return "A command" }
        let printable = EventLogLine.printable(name)
        return printable.hasPrefix("token:")
            ? "Token \(printable.dropFirst(6))" : "Operator \(printable)"
    }
}
