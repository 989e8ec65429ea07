import SQL

// The tables of webhooks, exports, idempotency keys, leases, uploads and secrets.
extension DatabaseSchema {
    static let operationTables: [SQL] = [
        // Written by mutations and not by events, because the log must not contain secrets.
        // `topics`: separated by spaces.
        // `config`: the encoded settings.
        // `since`: the position after which an active webhook receives events; otherwise NULL.
        // `reason`: why a webhook is inactive; otherwise NULL.
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
        // How far each event log was turned into deliveries (`WebhookCheckpoint`).
        // `after_position`: every event up to this position is done.
        // `within_position`: the last message done of the receipt event that follows; 0 if that event was not begun.
        """
        CREATE TABLE webhook_readers (
            application BYTEA NOT NULL PRIMARY KEY,
            after_position BIGINT NOT NULL,
            within_position BIGINT NOT NULL
        )
        """,
        // Deliveries of one lane are sent in order. The lane is the id of the conversation, or that of the delivery
        // itself for an event without one.
        // `number`: the order among the deliveries of the webhook.
        // `event`: the id of the webhook event.
        // `type`: the name of the event in the webhook's version.
        // `position`: the position of the event in the log; NULL for a test.
        // `state`: the raw value of `WebhookDelivery.State`.
        // `asked_at`: when the delivery was created, or its retry was requested; attempts are scheduled from there.
        // `next_at`: when the next attempt is due; only the first pending delivery of a lane has one.
        // `status`, `failure`: the response or the error of the last attempt.
        // `trace`: stored here too, because the event may be trimmed before it is delivered.
        // `log`: the encoded `WebhookDelivery.Log`; NULL before the first attempt.
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
            trace TEXT,
            log BYTEA
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
        // Ranges of the log to be delivered to a webhook again; a row is deleted when its range is done.
        // `after_position`, `within_position`: how far the range is done, as in `webhook_readers`.
        // `through_position`: the last position of the range.
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
        // Ranges of the log that were not read yet when a webhook, active until then, was deactivated. A row is
        // deleted when its range has been read.
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
        // The previous secrets of webhooks, which sign beside the current ones until the time `until`.
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
        // The public keys that archives are encrypted for, as text and in DER.
        // `last_historical_at`: when an export of all messages was last requested.
        """
        CREATE TABLE export_keys (
            application BYTEA NOT NULL PRIMARY KEY,
            pem TEXT NOT NULL,
            der BYTEA NOT NULL,
            last_historical_at BIGINT
        )
        """,
        // `repetition`: the raw value of `ExportSchedule.Interval`.
        // `position`: the last position of the log that was exported; the next export follows it.
        // `next_at`: when the next export is due; NULL for none.
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
        // `after_position`, `through_position`, `topics`: the exported range of the log; NULL for a historical export.
        // `task`: the raw value of `ExportTask.Kind`; NULL when nothing is to be done.
        // `size` and later columns: the encrypted archive; NULL until it is complete.
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
        // Responses to requests with an `Idempotency-Key` (X2), valid for a day. No event writes them.
        // `user_id`: the user whose key it is (ruling 40); empty for a key of the application.
        // `digest`: the SHA-256 of what identifies the request.
        // `fields`: the encoded header fields of the response.
        // `kept_at`: when the response was stored.
        """
        CREATE TABLE idempotency_keys (
            application BYTEA NOT NULL,
            user_id TEXT NOT NULL,
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
        ON idempotency_keys (application, user_id, idempotency_key)
        """,
        "CREATE INDEX idempotency_keys_by_age ON idempotency_keys (application, kept_at)",
        // The erasures of users (X16). No event writes them.
        // `number`: the number in the name of the erased user.
        // `user_id`: NULL when the erasure is completed.
        // `user_digest`: a keyed digest of the user id, by which a repeated request finds a completed erasure.
        // `current_table`, `last_key`: the table that is being worked on, and the encoded key of its last row that is done; NULL
        // before the first one.
        // `is_proving`: whether the proof is running.
        // `revision`: incremented with each write, which only the process that has made the last one may make.
        // `counts`: the encoded `Erasure.Count` of each table.
        // `faults`: the number of faults since the last progress.
        // `next_at`: the moment from which it is worked on.
        """
        CREATE TABLE erasures (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            number BIGINT NOT NULL,
            user_id TEXT,
            user_digest BYTEA NOT NULL,
            state TEXT NOT NULL,
            round BIGINT NOT NULL,
            current_table TEXT,
            last_key BYTEA,
            is_proving BIGINT NOT NULL,
            revision BIGINT NOT NULL,
            counts BYTEA NOT NULL,
            digest BYTEA,
            error TEXT,
            faults BIGINT NOT NULL DEFAULT 0,
            next_at BIGINT NOT NULL,
            requested_at BIGINT NOT NULL,
            ended_at BIGINT
        )
        """,
        "CREATE UNIQUE INDEX erasures_by_id ON erasures (application, id)",
        "CREATE UNIQUE INDEX erasures_by_number ON erasures (application, number)",
        "CREATE INDEX erasures_by_user ON erasures (application, user_digest, number)",
        // Scanned whole: the few erasures that are running.
        "CREATE INDEX erasures_running ON erasures (application, number) WHERE state = 'running'",
        """
        CREATE INDEX erasures_running_by_user ON erasures (application, user_id)
        WHERE state = 'running'
        """,
        // The contents of the user, whose file names a running or failed erasure removes from the log.
        """
        CREATE TABLE erased_contents (
            application BYTEA NOT NULL,
            erasure BYTEA NOT NULL,
            content BYTEA NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX erased_contents_by_content
        ON erased_contents (application, erasure, content)
        """,
        // Leases, for work that only one process may do at a time (`Lease`). No event writes them.
        // `holder`: the id of the process that holds the lease and 8 random bytes; NULL if it is free.
        // `renewals`: incremented with every change of the row.
        """
        CREATE TABLE leases (
            name TEXT NOT NULL PRIMARY KEY,
            holder BYTEA,
            renewals BIGINT NOT NULL
        )
        """,
        // The upload records that several processes share (`RegisteredUpload`). No event writes them. A request
        // names an upload only by the token in its URL, so the indexes do not start with the application.
        // `name`: the SHA-256 of the token, in hexadecimal digits.
        // `holder`: 16 random bytes of the process that last replaced the record.
        // `is_open`: whether the upload accepts bytes.
        // `claimed`: the number of bytes that count for the quota.
        // `due_at`: when the record must be processed without a request, for example because it expires.
        // `is_written`: whether the holder is receiving a body.
        // `wanted`: what another process requests of the holder: 0 nothing, 1 to commit what it has received, 2 to
        // commit it and stop.
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
        "CREATE INDEX uploads_by_openness ON uploads (is_open, content)",
        "CREATE INDEX uploads_of_application ON uploads (application, is_open, content)",
        // Secrets that all processes share.
        """
        CREATE TABLE secrets (
            name TEXT NOT NULL PRIMARY KEY,
            value BYTEA NOT NULL
        )
        """,
    ]
}
