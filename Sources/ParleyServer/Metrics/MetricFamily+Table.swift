import Telemetry

/// The declarations of all metrics: the source of the metrics page and of the table in the article
/// Metrics.
extension MetricFamily {
    static let all =
        requests + connections + secure + loops + database + uploads + webhooksAndDeliveries
        + process

    private static let requests = [
        requestCount, requestTime, requestBytes, answerBytes, requestsOverRate, cacheReads,
        listedMessages, memoryBytes, handlers,
    ]
    static let requestCount = MetricFamily(
        "parley_requests", .counter, labels: ["route", "method", "class"],
        "Requests answered or cancelled.")
    static let requestTime = MetricFamily(
        "parley_request_duration_seconds", .histogram, in: .seconds, labels: ["route"],
        "Time from the end of a request's headers to the end of its response.")
    static let requestBytes = MetricFamily(
        "parley_request_bytes", .counter, in: .bytes, "Bytes of requests, headers and bodies.")
    static let answerBytes = MetricFamily(
        "parley_answer_bytes", .counter, in: .bytes, "Bytes of responses, headers and bodies.")
    static let requestsOverRate = MetricFamily(
        "parley_requests_over_rate", .counter,
        "API requests refused by their token's rate limit.")
    static let cacheReads = MetricFamily(
        "parley_recalls", .counter, labels: ["outcome"],
        "Reads of single messages, from the cache (hit) or the database (miss).")
    static let listedMessages = MetricFamily(
        "parley_listed_messages", .counter, labels: ["outcome"],
        "Messages of lists, from the cache (cached) or the database (read).")
    static let memoryBytes = MetricFamily(
        "parley_memory_bytes", .gauge, in: .bytes,
        "Memory of the message cache; see api.memory.")
    static let handlers = MetricFamily(
        "parley_handlers", .gauge, labels: ["state"],
        "Requests running, waiting for bytes of their body, or queued for a handler."
    )

    private static let connections = [
        connectionsAccepted, connectionsRefused, connectionsOpen, streams, outputQueued,
    ]
    static let connectionsAccepted = MetricFamily(
        "parley_connections_accepted", .counter, "Connections accepted.")
    static let connectionsRefused = MetricFamily(
        "parley_connections_refused", .counter, labels: ["reason"],
        "Connections refused before any byte was read.")
    static let connectionsOpen = MetricFamily(
        "parley_connections", .gauge, labels: ["state"],
        "Open connections by state.")
    static let streams = MetricFamily(
        "parley_streams", .gauge, labels: ["kind"],
        "Open WebSockets (socket); open event streams and waiting requests (stream).")
    static let outputQueued = MetricFamily(
        "parley_output_queued_bytes", .gauge, in: .bytes,
        "Bytes of responses that no socket has accepted yet.")

    private static let secure = [handshakes, handshakesPending, certificateExpiry]
    static let handshakes = MetricFamily(
        "parley_tls_handshakes", .counter, labels: ["outcome"],
        "Finished TLS handshakes: full, resumed or failed.")
    static let handshakesPending = MetricFamily(
        "parley_tls_handshakes_pending", .gauge, "TLS handshakes in progress.")
    static let certificateExpiry = MetricFamily(
        "parley_certificate_expiry_timestamp_seconds", .gauge, in: .seconds, labels: ["file"],
        "When a served certificate expires, in seconds since 1970.")

    private static let loops = [turnTime]
    static let turnTime = MetricFamily(
        "parley_loop_turn_seconds", .histogram, in: .seconds, labels: ["loop"],
        "Duration of a loop's turns; new events wait until a turn ends.")

    private static let database = [
        commits, commitTime, mutations, replays, waitingChanges, busyReaders, waitingReads,
    ]
    static let commits = MetricFamily(
        "parley_database_commits", .counter, "Transactions committed, each with one sync.")
    static let commitTime = MetricFamily(
        "parley_database_commit_duration_seconds", .histogram, in: .seconds,
        "Time from the start of a batch of changes to the end of its sync.")
    static let mutations = MetricFamily(
        "parley_database_mutations", .counter,
        "Changes committed; divided by the commits, the changes per sync.")
    static let replays = MetricFamily(
        "parley_database_replays", .counter,
        "Batches repeated because one of their changes was rejected.")
    static let waitingChanges = MetricFamily(
        "parley_database_waiting_changes", .gauge, "Changes waiting for the next transaction.")
    static let busyReaders = MetricFamily(
        "parley_database_busy_readers", .gauge, "Reader connections in use.")
    static let waitingReads = MetricFamily(
        "parley_database_waiting_reads", .gauge, "Reads waiting for a reader connection.")

    private static let uploads = [
        uploadsOpen, uploadReserved, uploadRequests, uploadReceived, uploadBytes, uploadCommits,
        uploadCommitTime, uploadTakeovers, uploadResumes, uploadOverlap, uploadChecksumFailures,
        uploadsExpired, uploadsEnded, contentsErased, contentsErasedBytes,
    ]
    static let uploadsOpen = MetricFamily(
        "parley_uploads_open", .gauge, labels: ["dialect"],
        "Open uploads, by the protocol that created them.")
    static let uploadReserved = MetricFamily(
        "parley_upload_reserved_bytes", .gauge, in: .bytes, labels: ["dialect"],
        "Bytes reserved for open uploads, by the protocol that created them.")
    static let uploadRequests = MetricFamily(
        "parley_upload_requests", .counter, labels: ["dialect", "status"],
        "Upload requests by status; 0 means that no response was sent.")
    static let uploadReceived = MetricFamily(
        "parley_upload_received_bytes", .counter, in: .bytes, labels: ["dialect"],
        "Upload bytes received.")
    static let uploadBytes = MetricFamily(
        "parley_upload_bytes", .counter, in: .bytes, labels: ["dialect"],
        "Upload bytes persisted.")
    static let uploadCommits = MetricFamily(
        "parley_upload_commits", .counter, labels: ["dialect"],
        "Upload commits.")
    static let uploadCommitTime = MetricFamily(
        "parley_upload_commit_duration_seconds", .histogram, in: .seconds, labels: ["dialect"],
        "Duration of upload commits: syncing bytes and their record.")
    static let uploadTakeovers = MetricFamily(
        "parley_upload_takeovers", .counter, labels: ["dialect"],
        "Requests that took an upload over from an older request.")
    static let uploadResumes = MetricFamily(
        "parley_upload_resumes", .counter, labels: ["dialect"],
        "Requests that resumed an interrupted upload.")
    static let uploadOverlap = MetricFamily(
        "parley_upload_overlap_bytes", .counter, in: .bytes, labels: ["dialect"],
        "Upload bytes received again.")
    static let uploadChecksumFailures = MetricFamily(
        "parley_upload_checksum_failures", .counter, labels: ["dialect"],
        "Digests that did not match.")
    static let uploadsExpired = MetricFamily(
        "parley_uploads_expired", .counter, labels: ["dialect"],
        "Expired uploads, by the protocol that created them.")
    static let contentsErased = MetricFamily(
        "parley_contents_erased", .counter, "Unused contents deleted.")
    static let contentsErasedBytes = MetricFamily(
        "parley_contents_erased_bytes", .counter, in: .bytes, "Bytes of unused contents deleted.")
    static let uploadsEnded = MetricFamily(
        "parley_uploads_ended", .counter, labels: ["reason"], "Uploads that ended, by reason.")

    private static let webhooksAndDeliveries = [
        webhooks, webhookDeliveries, webhookAttempts, webhookAttemptTime, deadDeliveries,
        webhookVerifications, webhooksDeactivated,
    ]
    static let webhooks = MetricFamily(
        "parley_webhooks", .gauge, "Active webhooks that this process sends to.")
    static let webhookDeliveries = MetricFamily(
        "parley_webhook_deliveries", .gauge, labels: ["state"],
        "Pending deliveries and stored dead letters, if this process sends webhooks.")
    static let webhookAttempts = MetricFamily(
        "parley_webhook_attempts", .counter, labels: ["outcome"],
        "Delivery attempts, accepted (taken) or failed.")
    static let webhookAttemptTime = MetricFamily(
        "parley_webhook_attempt_duration_seconds", .histogram, in: .seconds,
        "Time from the start of a delivery attempt to its response or failure.")
    static let deadDeliveries = MetricFamily(
        "parley_webhook_dead_deliveries", .counter, "Deliveries that became dead letters.")
    static let webhookVerifications = MetricFamily(
        "parley_webhook_verifications", .counter, labels: ["outcome"],
        "Webhook verifications.")
    static let webhooksDeactivated = MetricFamily(
        "parley_webhooks_deactivated", .counter,
        "Webhooks deactivated because of failed deliveries.")

    private static let process = [
        build, linesDropped, linesSuppressed, cpuTime, residentMemory, openDescriptors,
        descriptorLimit, startTime,
    ]
    static let build = MetricFamily(
        "parley_build_info", .gauge, labels: ["version"], "Always 1; the label has the version.")
    static let linesDropped = MetricFamily(
        "parley_log_lines_dropped", .counter, "Log lines dropped because the output was blocked.")
    static let linesSuppressed = MetricFamily(
        "parley_log_lines_suppressed", .counter,
        "Log lines about refused requests that were only counted.")
    static let cpuTime = MetricFamily(
        "process_cpu_seconds", .counter, in: .seconds, "Processor time used.")
    static let residentMemory = MetricFamily(
        "process_resident_memory_bytes", .gauge, in: .bytes, "Resident memory.")
    static let openDescriptors = MetricFamily(
        "process_open_fds", .gauge, "Open file descriptors.")
    static let descriptorLimit = MetricFamily(
        "process_max_fds", .gauge, "Limit of open file descriptors.")
    static let startTime = MetricFamily(
        "process_start_time_seconds", .gauge, in: .seconds,
        "Start time of the process, in seconds since 1970.")
}

// Counted for the charts of the console only: /metrics has the same by route.
extension MetricFamily {
    static let requestKindTime = MetricFamily(
        "parley_request_kind_duration_seconds", .histogram, in: .seconds, labels: ["kind"],
        "Time of requests that send messages, that read, that last, and of others.")
    static let serverErrors = MetricFamily(
        "parley_server_errors", .counter, "Answers with a status of 5xx.")
}

extension MetricFamily {
    /// The table of the article Metrics.
    static var markdownTable: String {
        let rows = all.map { family in
            let labels = family.labels.map { label in "`\(label)`" }.joined(separator: ", ")
            return
                "| `\(family.sampleName)` | \(family.kind.rawValue) | \(labels) | \(family.help) |"
        }
        return (["| Metric | Kind | Labels | Meaning |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }
}
