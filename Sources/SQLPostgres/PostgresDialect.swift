import SQL

/// Statements of PostgreSQL.
enum PostgresDialect {
    static func begin(_ access: TransactionAccess) -> String {
        switch access {
        // In READ COMMITTED, statements after the writer's lock see everything that its last holder has committed.
        case .writing: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .reading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }

    /// Takes the lock of the schema's writer, and selects 1 if another process held it, else 0.
    ///
    /// One process at a time writes in a schema, as in an SQLite file: what a change has read stays true until it
    /// commits, and positions are assigned in commit order.
    static let writerLock: SQL =
        """
        SELECT CASE
            WHEN pg_try_advisory_xact_lock(key) THEN 0
            WHEN pg_advisory_xact_lock(key) IS NULL THEN 2
            ELSE 1
        END
        FROM (SELECT hashtextextended(current_schema()::text, 1985) AS key) AS writer
        """

    /// Notifies the listeners of this schema.
    static func notify(_ text: String) -> SQL {
        """
        SELECT pg_notify('parley_' || hashtextextended(current_schema()::text, 1985)::text, \(text))
        """
    }

    /// Selects the `LISTEN` statement, which takes no parameters.
    static let listening: SQL =
        """
        SELECT 'LISTEN "parley_' || hashtextextended(current_schema()::text, 1985)::text || '"'
        """

    /// Selects an `ANALYZE` statement for each table that has more than doubled since it was last analysed.
    /// `SKIP_LOCKED` leaves out tables that another session analyses.
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

    /// Makes text columns compare bytewise, as in SQLite, whatever the locale of the database.
    static func schema(_ statement: SQL) -> SQL {
        guard statement.text.hasPrefix("CREATE TABLE") || statement.text.hasPrefix("ALTER TABLE")
        else { return statement }
        let parts = statement.text.split(separator: " TEXT", omittingEmptySubsequences: false)
        return SQL(stringLiteral: parts.joined(separator: " TEXT COLLATE \"C\""))
    }

    /// Sets the options of a session, and selects the settings that durability depends on.
    ///
    /// A prepared statement keeps its first plan: which index a statement reads never depends on its values. Left to
    /// itself, the server would plan a statement with a short array again each time, which takes longer than running it,
    /// because it expects ten elements of an unknown array.
    static func session(statement: Int64, lock: Int64, idle: Int64) -> SQL {
        // Evaluated in this order: the settings are read before any option is set.
        """
        SELECT current_setting('fsync'), current_setting('server_encoding'), current_schema(),
            set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
            set_config('statement_timeout', \(String(statement)), false),
            set_config('lock_timeout', \(String(lock)), false),
            set_config('idle_in_transaction_session_timeout', \(String(idle)), false),
            set_config('jit', 'off', false), set_config('enable_seqscan', 'off', false),
            set_config('plan_cache_mode', 'force_generic_plan', false),
            set_config('random_page_cost',
                LEAST(current_setting('random_page_cost')::float8, 1.1)::text, false)
        """
    }
}
