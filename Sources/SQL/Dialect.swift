// What the engines say differently, and the words around statements, which `MessagingStore` never
// writes.

/// The words both engines understand.
enum Dialect {
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"
    static let savepoint = "SAVEPOINT mutation"
    static let release = "RELEASE SAVEPOINT mutation"
    static let rollbackToSavepoint = "ROLLBACK TO SAVEPOINT mutation"

    /// Behind a `SELECT` whose rows are to stay as they are: whoever writes has the file, or the
    /// schema, to himself.
    static let rowLock = ""
}

/// SQLite's own.
enum SQLiteDialect {
    static func begin(_ access: TransactionAccess) -> String {
        switch access {
        // Takes the write lock at once: waiting for it later could fail in the midst of a batch.
        case .writing: "BEGIN IMMEDIATE"
        // A snapshot, taken by the first statement that reads.
        case .reading: "BEGIN DEFERRED"
        }
    }
}

/// PostgreSQL's own.
enum PostgresDialect {
    static func begin(_ access: TransactionAccess) -> [String] {
        switch access {
        // One writer at a time in a schema, as in a file of SQLite: what is loaded holds until it is
        // recorded, and positions are handed out in the order of commits. Each statement looks
        // anew, so those after the lock see everything its last holder has committed.
        case .writing:
            [
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
                "SELECT pg_advisory_xact_lock(hashtextextended(current_schema()::text, 1985))",
            ]
        case .reading: ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
        }
    }

    /// Tells whoever listens at this schema, once the transaction commits.
    static func hint(_ text: String) -> SQL {
        """
        SELECT pg_notify('parley_' || hashtextextended(current_schema()::text, 1985)::text, \(text))
        """
    }

    /// Makes the statement that listens there: it takes no values.
    static let listening: SQL =
        """
        SELECT 'LISTEN "parley_' || hashtextextended(current_schema()::text, 1985)::text || '"'
        """

    /// Makes the statements that tell the planner of tables which have more than doubled since they were
    /// last analysed; one that somebody else is about to analyse is left to him.
    static let analyses: SQL =
        """
        SELECT 'ANALYZE (SKIP_LOCKED) ' || quote_ident(relname) FROM pg_class
        WHERE relkind = 'r'
            AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
            AND pg_stat_get_live_tuples(oid) > 100 + CASE
                WHEN pg_stat_get_last_analyze_time(oid) IS NULL
                    AND pg_stat_get_last_autoanalyze_time(oid) IS NULL THEN 0
                ELSE 2 * GREATEST(reltuples, 0)
            END
        """

    /// Has columns of text compared octet by octet, as SQLite does, whatever the database's language.
    static func schema(_ statement: SQL) -> SQL {
        guard statement.text.hasPrefix("CREATE TABLE") || statement.text.hasPrefix("ALTER TABLE")
        else { return statement }
        let parts = statement.text.split(separator: " TEXT", omittingEmptySubsequences: false)
        return SQL(stringLiteral: parts.joined(separator: " TEXT COLLATE \"C\""))
    }

    /// What a session needs to keep the promises of this target, and what tells whether it can.
    static func session(statement: Int64, lock: Int64, idle: Int64) -> SQL {
        // In this order: the promises are read before anything is changed.
        """
        SELECT current_setting('fsync'), current_setting('server_encoding'), current_schema(),
            set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
            set_config('statement_timeout', \(String(statement)), false),
            set_config('lock_timeout', \(String(lock)), false),
            set_config('idle_in_transaction_session_timeout', \(String(idle)), false),
            set_config('jit', 'off', false), set_config('enable_seqscan', 'off', false),
            set_config('random_page_cost',
                LEAST(current_setting('random_page_cost')::float8, 1.1)::text, false)
        """
    }
}
