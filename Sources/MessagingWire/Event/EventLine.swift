public import Messaging

/// An event as a line that a person reads: when, of what kind, who did what.
///
/// `2026-05-02T14:34:27Z Sync: User ana created a message in conversation 0d9f….`
///
/// One line whatever users call themselves: what is not printable in a name is written as `\u{a}`.
public enum EventLine {
    /// What an event is about, in one word.
    enum Topic: String {
        case access = "Access"
        case identity = "Identity"
        case sync = "Sync"
        case content = "Content"
        case push = "Push"
        case export = "Export"
        case webhook = "Webhook"
    }

    /// The line, without an end.
    ///
    /// - Parameter actor: Who did it; `nil` for the server itself.
    public static func text(_ event: Event, by actor: Actor?, at moment: Timestamp) -> String {
        // Of the time on the wire all but the fraction.
        let time = TimestampJSON.text(moment).dropLast(5)
        return "\(time)Z \(event.topicOfLine.rawValue): \(name(of: actor)) \(event.deed)."
    }

    private static func name(of actor: Actor?) -> String {
        switch actor {
        case .user(let user): "User \(printable(user.text))"
        case .named(let name): "Service \(printable(name))"
        case .token(let id): "Token \(id)"
        case nil: "The server"
        }
    }

    /// A text that cannot leave its line, or change how the rest of it is shown.
    static func printable(_ text: String) -> String {
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
}
