/// A notification from a process that shares the database: where something changed, never what it holds now.
public enum ChangeNotification: Hashable, Sendable {
    /// A change of the subject is durable; see ``Transaction/notify(_:_:keeping:)``.
    case changed(subject: String, number: Int64)

    /// Notifications may have been lost: listening has started, or restarted after the connection broke.
    /// Everything that was committed before this can be read now.
    case missed
}

/// The notifications that one transaction sends when it commits, at most one for each subject.
struct PendingNotifications: Sendable {
    typealias Choice = @Sendable (Int64, Int64) -> Int64

    private var numbers: [String: (number: Int64, better: Choice)] = [:]

    var isEmpty: Bool { numbers.isEmpty }

    /// The payloads: subject, space, number.
    var texts: [String] {
        numbers.map { subject, entry in "\(subject) \(entry.number)" }.sorted()
    }

    /// - Parameter better: Chooses the number to send when a subject is noted twice.
    mutating func note(_ subject: String, _ number: Int64, _ better: @escaping Choice) {
        let former = numbers[subject]
        numbers[subject] = (
            former.map { former in better(former.number, number) } ?? number, better
        )
    }

    mutating func merge(_ others: PendingNotifications) {
        for (subject, entry) in others.numbers { note(subject, entry.number, entry.better) }
    }
}

extension ChangeNotification {
    /// Parses a payload of ``PendingNotifications``.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let number = Int64(words[1]) else { return nil }
        self = .changed(subject: String(words[0]), number: number)
    }
}
