internal import Bytes
public import Messaging

/// An event as one line of text: its time, category, actor and change.
///
/// `2026-05-02T14:34:27Z Sync: User ana created a message in conversation 0d9f….`
///
/// A character of a name that is not printable is written as `\u{a}`, so the text is always one line.
public enum EventLogLine {
    /// The area of an event.
    enum Category: String {
        case access = "Access"
        case identity = "Identity"
        case sync = "Sync"
        case content = "Content"
        case push = "Push"
        case export = "Export"
        case webhook = "Webhook"
    }

    /// Returns the line, without a line feed.
    ///
    /// - Parameter actor: `nil` for the server itself.
    public static func text(_ event: Event, by actor: EventActor?, at moment: Timestamp) -> String {
        let time = ISO8601.wholeSeconds(moment.milliseconds)
        let payload = event.payloadJSON
        let category = type(of: payload).logCategory.rawValue
        return "\(time) \(category): \(name(of: actor)) \(payload.logSummary)."
    }

    private static func name(of actor: EventActor?) -> String {
        switch actor {
        case .user(let user): "User \(printable(user.text))"
        case .named(let name): "Service \(printable(name))"
        case .token(let id): "Token \(id)"
        case nil: "The server"
        }
    }

    /// Returns the text with every character escaped that could end the line or change its display.
    public static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { !isPrintable($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            if isPrintable(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            false
        default: scalar != "\\"
        }
    }

    /// A user as log lines name it.
    static func user(_ user: UserID) -> String { "user \(printable(user.text))" }

    /// A count with its noun.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
