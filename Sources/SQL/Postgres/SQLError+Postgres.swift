extension SQLError {
    /// Reads what the server has to say about a statement; never its details, which show values.
    init(_ result: PostgresResult, statement: String) {
        guard !result.isEmpty else {
            self.init(.misuse, "not exactly one statement", statement: statement)
            return
        }
        // Without a state it is libpq that speaks: the server has left.
        let state = result.field("C") ?? "08000"
        let message = result.field("M") ?? result.message
        self.init(
            Kind(state: state),
            "\(state) \(message.split(separator: "\n").joined(separator: "; "))",
            statement: statement)
    }
}

extension SQLError.Kind {
    /// PostgreSQL's states (https://www.postgresql.org/docs/15/errcodes-appendix.html); the first two
    /// characters are the class.
    init(state: String) {
        switch state {
        // protocol_violation: values that do not fit the statement.
        case "08P01": self = .misuse
        case "23505": self = .notUnique
        // serialization_failure, deadlock_detected; a plan whose tables have changed.
        case "40001", "40P01", "0A000": self = .collided
        case "25006": self = .readOnly
        // in_failed_sql_transaction, no_active_sql_transaction
        case "25P02", "25P01": self = .transactionLost
        case "53100": self = .diskFull
        case "55P03": self = .locked
        case "57014": self = .timedOut
        case "58030": self = .inputOutput
        case "XX001", "XX002": self = .corrupt
        // too_many_connections; the server stops, has crashed, or is starting.
        case "53300", "57P01", "57P02", "57P03", "57P05", "25P03": self = .unreachable
        default: self = Self.classes[String(state.prefix(2))] ?? .other
        }
    }

    private static let classes: [String: SQLError.Kind] = [
        "08": .unreachable, "22": .misuse, "23": .constraint, "26": .collided, "42": .misuse,
    ]
}
