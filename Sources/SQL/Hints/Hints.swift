/// What the changes of one transaction have to say to other processes, at most once of each subject.
struct Hints: Sendable {
    typealias Choice = @Sendable (Int64, Int64) -> Int64

    private var numbers: [String: (number: Int64, better: Choice)] = [:]

    var isEmpty: Bool { numbers.isEmpty }

    /// Each as one text without a space but the one in front of the number.
    var texts: [String] {
        numbers.map { subject, said in "\(subject) \(said.number)" }.sorted()
    }

    /// - Parameter better: Which one of two numbers of the same subject is said.
    mutating func note(_ subject: String, _ number: Int64, _ better: @escaping Choice) {
        let former = numbers[subject]
        numbers[subject] = (
            former.map { former in better(former.number, number) } ?? number, better
        )
    }

    mutating func merge(_ others: Hints) {
        for (subject, said) in others.numbers { note(subject, said.number, said.better) }
    }
}

extension Hint {
    /// Reads what ``Hints`` has written.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let number = Int64(words[1]) else { return nil }
        self = .told(subject: String(words[0]), number: number)
    }
}
