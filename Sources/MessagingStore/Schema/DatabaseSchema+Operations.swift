import SQL

// The tables of webhooks, exports and uploads, and what processes share.
extension DatabaseSchema {
    static let operationTables: [SQL] = [
        // Not derived from events, because they hold secrets.
        """
        CREATE TABLE webhooks (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            payload_version TEXT NOT NULL,
            target TEXT NOT NULL,
            topics TEXT NOT NULL,
            secret TEXT NOT NULL,
            config BYTEA,
            status TEXT NOT NULL,
            since BIGINT,
            reason TEXT,
            created_at BIGINT NOT NULL,
            version BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX webhooks_by_id ON webhooks (application, id)",
        // Scanned whole: the few webhooks whose targets are not yet verified, and the active ones.
        """
        CREATE INDEX webhooks_unverified
        ON webhooks (application, id)
        WHERE status = 'unverified'
        """,
        "CREATE INDEX webhooks_active ON webhooks (application, id) WHERE status = 'active'",
        // How far the event log was read for webhooks. `within_position` is a position among the messages of
        // the receipt event that follows `after_position`.
        """
        CREATE TABLE webhook_readers (
            application BYTEA NOT NULL PRIMARY KEY,
            after_position BIGINT NOT NULL,
            within_position BIGINT NOT NULL
        )
        """,
        // Deliveries of one lane are sent in order. The lane is the conversation, or the delivery itself if
        // there is none. Only the first pending delivery of a lane has a `next_at`.
        // `trace`: stored here too, because the event may be trimmed before it is delivered.
        """
        CREATE TABLE deliveries (
            application BYTEA NOT NULL,
            webhook BYTEA NOT NULL,
            number BIGINT NOT NULL,
            id BYTEA NOT NULL,
            lane BYTEA NOT NULL,
            event BYTEA NOT NULL,
            type TEXT NOT NULL,
            position BIGINT,
            body BYTEA NOT NULL,
            state TEXT NOT NULL,
            attempts BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            asked_at BIGINT NOT NULL,
            next_at BIGINT,
            finished_at BIGINT,
            status BIGINT,
            failure TEXT,
            trace TEXT
        )
        """,
        "CREATE UNIQUE INDEX deliveries_by_id ON deliveries (application, id)",
        "CREATE UNIQUE INDEX deliveries_by_number ON deliveries (application, webhook, number)",
        "CREATE INDEX deliveries_by_state ON deliveries (application, webhook, state, number)",
        """
        CREATE UNIQUE INDEX deliveries_by_head
        ON deliveries (application, webhook, lane)
        WHERE next_at IS NOT NULL
        """,
        """
        CREATE INDEX deliveries_by_lane
        ON deliveries (application, webhook, lane, number)
        WHERE state = 'pending'
        """,
        """
        CREATE INDEX deliveries_by_time
        ON deliveries (application, webhook, next_at, number)
        WHERE next_at IS NOT NULL
        """,
        // Ranges of the log to be delivered again; a row is deleted when its range is done.
        """
        CREATE TABLE webhook_replays (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            webhook BYTEA NOT NULL,
            after_position BIGINT NOT NULL,
            within_position BIGINT NOT NULL,
            through_position BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX webhook_replays_by_id ON webhook_replays (application, id)",
        // Ranges of the log that webhooks no longer active have not received, although they were active
        // then. A row is deleted when its range has been read.
        """
        CREATE TABLE webhook_ranges (
            application BYTEA NOT NULL,
            webhook BYTEA NOT NULL,
            after_position BIGINT NOT NULL,
            through_position BIGINT NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX webhook_ranges_by_position
        ON webhook_ranges (application, webhook, through_position)
        """,
        // The previous secret signs beside the current one for a while.
        """
        CREATE TABLE former_secrets (
            application BYTEA NOT NULL,
            webhook BYTEA NOT NULL,
            secret TEXT NOT NULL,
            until BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX former_secrets_by_webhook ON former_secrets (application, webhook)",
        // Deleted webhooks whose deliveries are still to be deleted, a batch at a time.
        """
        CREATE TABLE dropped_webhooks (
            application BYTEA NOT NULL,
            webhook BYTEA NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX dropped_webhooks_by_id ON dropped_webhooks (application, webhook)",
        """
        CREATE TABLE export_keys (
            application BYTEA NOT NULL PRIMARY KEY,
            pem TEXT NOT NULL,
            der BYTEA NOT NULL,
            last_historical_at BIGINT
        )
        """,
        """
        CREATE TABLE export_schedules (
            application BYTEA NOT NULL PRIMARY KEY,
            repetition TEXT NOT NULL,
            topics TEXT NOT NULL,
            position BIGINT NOT NULL,
            next_at BIGINT,
            last_at BIGINT,
            last_export BYTEA
        )
        """,
        // Scanned whole: one row for each application with daily exports.
        """
        CREATE INDEX export_schedules_by_time
        ON export_schedules (application, next_at)
        WHERE next_at IS NOT NULL
        """,
        """
        CREATE TABLE exports (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            after_position BIGINT,
            through_position BIGINT,
            topics TEXT,
            public_key BYTEA NOT NULL,
            created_at BIGINT NOT NULL,
            started_at BIGINT,
            completed_at BIGINT,
            expired_at BIGINT,
            deleted_at BIGINT,
            task TEXT,
            size BIGINT,
            sha256 BYTEA,
            crc32c BIGINT,
            encrypted_key BYTEA,
            initial_vector BYTEA
        )
        """,
        "CREATE UNIQUE INDEX exports_by_id ON exports (application, id)",
        // Scanned whole: the few exports that are not finished.
        "CREATE INDEX exports_by_task ON exports (application, id) WHERE task IS NOT NULL",
        // Scanned whole: the archives that will expire.
        """
        CREATE INDEX exports_by_completion
        ON exports (application, completed_at)
        WHERE completed_at IS NOT NULL AND task IS NULL AND expired_at IS NULL
        """,
        // A signed download URL names only the archive; its signature is the permission.
        "CREATE INDEX exports_by_name ON exports (id)",
        // Responses to requests with an `Idempotency-Key` (X2), kept for a day. No event writes them.
        """
        CREATE TABLE idempotency_keys (
            application BYTEA NOT NULL,
            idempotency_key TEXT NOT NULL,
            digest BYTEA NOT NULL,
            status BIGINT NOT NULL,
            fields BYTEA NOT NULL,
            body BYTEA,
            kept_at BIGINT NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX idempotency_keys_by_key
        ON idempotency_keys (application, idempotency_key)
        """,
        "CREATE INDEX idempotency_keys_by_age ON idempotency_keys (application, kept_at)",
        // The holders of leases: work that only one process may do at a time. No event writes them.
        """
        CREATE TABLE leases (
            name TEXT NOT NULL PRIMARY KEY,
            holder BYTEA,
            renewals BIGINT NOT NULL
        )
        """,
        // The upload records that several processes share. No event writes them. The token in an upload URL
        // names the upload before an application is known, so the keys do not start with it.
        // `is_written`: whether the process that last replaced the record is receiving a body.
        // `wanted`: what another process asks of that process: 0 nothing, 1 to commit what it has received, 2 to stop.
        """
        CREATE TABLE uploads (
            name TEXT NOT NULL PRIMARY KEY,
            version BIGINT NOT NULL,
            holder BYTEA NOT NULL,
            content TEXT NOT NULL,
            application TEXT NOT NULL,
            owner TEXT NOT NULL,
            is_open BIGINT NOT NULL,
            claimed BIGINT NOT NULL,
            due_at BIGINT NOT NULL,
            record BYTEA NOT NULL,
            is_written BIGINT NOT NULL DEFAULT 0,
            wanted BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX uploads_by_content ON uploads (content)",
        "CREATE INDEX uploads_by_owner ON uploads (application, owner, is_open, claimed)",
        "CREATE INDEX uploads_by_due ON uploads (due_at, name)",
        // Secrets that all processes share.
        """
        CREATE TABLE secrets (
            name TEXT NOT NULL PRIMARY KEY,
            value BYTEA NOT NULL
        )
        """,
    ]
}
