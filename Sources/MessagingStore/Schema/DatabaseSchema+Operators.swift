import SQL

// The tables of the console, which belong to the server and not to an application. No event of an application writes them.
extension DatabaseSchema {
    static let operatorTables: [SQL] = [
        // `role`: the raw value of `Token.Scope`.
        // `password`: the stored form of `PasswordHash`; NULL until a password is set.
        """
        CREATE TABLE operators (
            name TEXT NOT NULL PRIMARY KEY,
            role TEXT NOT NULL,
            password BYTEA,
            created_at BIGINT NOT NULL
        )
        """,
        // The sessions of the console that have not ended. Expired ones are deleted when another begins.
        // `digest`: the SHA-256 of the token in the cookie, which is not stored.
        // `operator_name`: the name of the operator; NULL for a session of a token.
        // `application`, `token`: the token that logged in; NULL for a session of an operator.
        // `by_link`: whether it began with a link.
        """
        CREATE TABLE console_sessions (
            digest BYTEA NOT NULL PRIMARY KEY,
            id BYTEA NOT NULL,
            operator_name TEXT,
            application BYTEA,
            token BYTEA,
            by_link BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            address TEXT NOT NULL,
            agent TEXT
        )
        """,
        "CREATE UNIQUE INDEX console_sessions_by_id ON console_sessions (id)",
        "CREATE INDEX console_sessions_by_operator ON console_sessions (operator_name, created_at)",
        "CREATE INDEX console_sessions_by_token ON console_sessions (token, created_at)",
        "CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at)",
        // Links that log in once. Expired ones are deleted when another is created.
        // `digest`: the SHA-256 of the token in the link.
        // `operator_name`: the operator that it logs in, which is created if it does not exist.
        """
        CREATE TABLE console_links (
            digest BYTEA NOT NULL PRIMARY KEY,
            operator_name TEXT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX console_links_by_expiry ON console_links (expires_at)",
        // The end of the server's own event log: one row.
        // `trimmed`: events up to this position have been deleted.
        """
        CREATE TABLE audit_log (
            id BIGINT NOT NULL PRIMARY KEY,
            position BIGINT NOT NULL,
            trimmed BIGINT NOT NULL
        )
        """,
        // `type`: the raw value of `AuditEventType`.
        // `subject`: the name or id of what the event is about.
        """
        CREATE TABLE audit_events (
            position BIGINT NOT NULL PRIMARY KEY,
            at BIGINT NOT NULL,
            type TEXT NOT NULL,
            actor TEXT,
            address TEXT,
            request TEXT,
            subject TEXT,
            application BYTEA,
            repeated BIGINT NOT NULL
        )
        """,
        "CREATE INDEX audit_events_by_time ON audit_events (at, position)",
        // The processes that share a database server, each written by itself every ten seconds. A database file has one
        // process, which has no row.
        // `id`: eight hexadecimal digits, new with each start.
        // `stats`: the latest sample of its counters, as JSON.
        """
        CREATE TABLE processes (
            id TEXT NOT NULL PRIMARY KEY,
            version TEXT NOT NULL,
            started_at BIGINT NOT NULL,
            last_seen_at BIGINT NOT NULL,
            stats TEXT NOT NULL
        )
        """,
        "CREATE INDEX processes_by_time ON processes (last_seen_at)",
        // The jobs of the console (`ConsoleJob`).
        // `process`: the id of the process that works on it.
        // `done`, `total`: bytes.
        // `result`: what it has done, as JSON.
        """
        CREATE TABLE console_jobs (
            id BYTEA NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            application BYTEA,
            state TEXT NOT NULL,
            process TEXT NOT NULL,
            actor TEXT NOT NULL,
            started_at BIGINT NOT NULL,
            ended_at BIGINT,
            done BIGINT NOT NULL,
            total BIGINT,
            error TEXT,
            result TEXT
        )
        """,
        "CREATE INDEX console_jobs_by_time ON console_jobs (started_at)",
        "CREATE INDEX console_jobs_of_application ON console_jobs (application, started_at)",
    ]
}
