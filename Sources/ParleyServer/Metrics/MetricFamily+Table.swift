import Telemetry

/// Every metric there is: read by the page, by the table of the article Metrics, and by the tests that compare them.
extension MetricFamily {
    static let all =
        requests + connections + secure + loops + database + uploads + webhooksAndDeliveries
        + process

    private static let requests = [
        requestCount, requestTime, requestBytes, answerBytes, requestsOverRate, cacheReads,
        memoryBytes, handlers,
    ]
    static let requestCount = MetricFamily(
        "parley_requests", .counter, labels: ["route", "method", "class"],
        "Requests that were answered or given up.")
    static let requestTime = MetricFamily(
        "parley_request_duration_seconds", .histogram, in: .seconds, labels: ["route"],
        "From the end of a request's head to the end of its answer.")
    static let requestBytes = MetricFamily(
        "parley_request_bytes", .counter, in: .bytes, "Bytes of requests, heads and bodies.")
    static let answerBytes = MetricFamily(
        "parley_answer_bytes", .counter, in: .bytes, "Bytes of answers, heads and contents.")
    static let requestsOverRate = MetricFamily(
        "parley_requests_over_rate", .counter,
        "Requests of the API refused because their token sent too many.")
    static let cacheReads = MetricFamily(
        "parley_recalls", .counter, labels: ["outcome"],
        "Reads of one message: answered from memory (hit), or by the database (miss).")
    static let memoryBytes = MetricFamily(
        "parley_memory_bytes", .gauge, in: .bytes,
        "Memory held by messages as they were answered lately; see api.memory.")
    static let handlers = MetricFamily(
        "parley_handlers", .gauge, labels: ["state"],
        "Requests that are worked on, whose handler waits for bytes of the body, or that wait for a handler."
    )

    private static let connections = [
        connectionsAccepted, connectionsRefused, connectionsOpen, outputQueued,
    ]
    static let connectionsAccepted = MetricFamily(
        "parley_connections_accepted", .counter, "Connections accepted.")
    static let connectionsRefused = MetricFamily(
        "parley_connections_refused", .counter, labels: ["reason"],
        "Connections refused before anything of them was read.")
    static let connectionsOpen = MetricFamily(
        "parley_connections", .gauge, labels: ["state"],
        "Open connections by what they are about.")
    static let outputQueued = MetricFamily(
        "parley_output_queued_bytes", .gauge, in: .bytes,
        "Bytes of answers that no socket has taken yet.")

    private static let secure = [handshakes, handshakesPending, certificateExpiry]
    static let handshakes = MetricFamily(
        "parley_tls_handshakes", .counter, labels: ["outcome"],
        "TLS handshakes that are over; those that resumed a session apart.")
    static let handshakesPending = MetricFamily(
        "parley_tls_handshakes_pending", .gauge, "TLS handshakes in progress.")
    static let certificateExpiry = MetricFamily(
        "parley_certificate_expiry_timestamp_seconds", .gauge, in: .seconds, labels: ["file"],
        "When a served certificate expires, in seconds since 1970.")

    private static let loops = [turnTime]
    static let turnTime = MetricFamily(
        "parley_loop_turn_seconds", .histogram, in: .seconds, labels: ["loop"],
        "Time in which a loop was at work and could not look after anything new.")

    private static let database = [
        commits, commitTime, mutations, replays, waitingChanges, busyReaders, waitingReads,
    ]
    static let commits = MetricFamily(
        "parley_database_commits", .counter, "Transactions committed, each with one sync.")
    static let commitTime = MetricFamily(
        "parley_database_commit_duration_seconds", .histogram, in: .seconds,
        "From the beginning of a batch of changes to the end of its sync.")
    static let mutations = MetricFamily(
        "parley_database_mutations", .counter,
        "Changes committed; divided by the commits, how many shared a sync.")
    static let replays = MetricFamily(
        "parley_database_replays", .counter,
        "Batches run a second time because a change in them was refused.")
    static let waitingChanges = MetricFamily(
        "parley_database_waiting_changes", .gauge, "Changes that wait for the next transaction.")
    static let busyReaders = MetricFamily(
        "parley_database_busy_readers", .gauge, "Reading connections at work.")
    static let waitingReads = MetricFamily(
        "parley_database_waiting_reads", .gauge, "Reads that wait for a reading connection.")

    private static let uploads = [
        uploadsOpen, uploadReserved, uploadRequests, uploadReceived, uploadBytes, uploadCommits,
        uploadCommitTime, uploadTakeovers, uploadResumes, uploadOverlap, uploadChecksumFailures,
        uploadsExpired, uploadsEnded, contentsErased, contentsErasedBytes,
    ]
    static let uploadsOpen = MetricFamily(
        "parley_uploads_open", .gauge, labels: ["dialect"],
        "Uploads that take bytes, by what created them.")
    static let uploadReserved = MetricFamily(
        "parley_upload_reserved_bytes", .gauge, in: .bytes, labels: ["dialect"],
        "Bytes promised to open uploads, by what created them.")
    static let uploadRequests = MetricFamily(
        "parley_upload_requests", .counter, labels: ["dialect", "status"],
        "Requests to uploads; status 0 for those that were given no answer.")
    static let uploadReceived = MetricFamily(
        "parley_upload_received_bytes", .counter, in: .bytes, labels: ["dialect"],
        "Bytes of bodies read; far ahead of those made durable, a proxy holds bodies back.")
    static let uploadBytes = MetricFamily(
        "parley_upload_bytes", .counter, in: .bytes, labels: ["dialect"],
        "Bytes of uploads made durable.")
    static let uploadCommits = MetricFamily(
        "parley_upload_commits", .counter, labels: ["dialect"],
        "How often bytes of uploads were made durable.")
    static let uploadCommitTime = MetricFamily(
        "parley_upload_commit_duration_seconds", .histogram, in: .seconds, labels: ["dialect"],
        "What making bytes durable took, with their record.")
    static let uploadTakeovers = MetricFamily(
        "parley_upload_takeovers", .counter, labels: ["dialect"],
        "Requests that made an older one let go of its upload.")
    static let uploadResumes = MetricFamily(
        "parley_upload_resumes", .counter, labels: ["dialect"],
        "Requests that went on behind an interruption.")
    static let uploadOverlap = MetricFamily(
        "parley_upload_overlap_bytes", .counter, in: .bytes, labels: ["dialect"],
        "Bytes that were held already when they came.")
    static let uploadChecksumFailures = MetricFamily(
        "parley_upload_checksum_failures", .counter, labels: ["dialect"],
        "Digests that were not those stated.")
    static let uploadsExpired = MetricFamily(
        "parley_uploads_expired", .counter, labels: ["dialect"],
        "Uploads whose time was up, by what created them.")
    static let contentsErased = MetricFamily(
        "parley_contents_erased", .counter, "Contents deleted because nobody needs them.")
    static let contentsErasedBytes = MetricFamily(
        "parley_contents_erased_bytes", .counter, in: .bytes, "Bytes of those.")
    static let uploadsEnded = MetricFamily(
        "parley_uploads_ended", .counter, labels: ["reason"], "Uploads that ended, by how.")

    private static let webhooksAndDeliveries = [
        webhooks, webhookDeliveries, webhookAttempts, webhookAttemptTime, deadDeliveries,
        webhookVerifications, webhooksDeactivated,
    ]
    static let webhooks = MetricFamily(
        "parley_webhooks", .gauge, "Active webhooks, where this process sends to them.")
    static let webhookDeliveries = MetricFamily(
        "parley_webhook_deliveries", .gauge, labels: ["state"],
        "Deliveries that wait, or that were given up and are kept, where this process sends them.")
    static let webhookAttempts = MetricFamily(
        "parley_webhook_attempts", .counter, labels: ["outcome"],
        "Tries of deliveries that the receiver took, or that failed.")
    static let webhookAttemptTime = MetricFamily(
        "parley_webhook_attempt_duration_seconds", .histogram, in: .seconds,
        "From the beginning of a try to its answer or its failure.")
    static let deadDeliveries = MetricFamily(
        "parley_webhook_dead_deliveries", .counter, "Deliveries that were given up.")
    static let webhookVerifications = MetricFamily(
        "parley_webhook_verifications", .counter, labels: ["outcome"],
        "Targets that were asked whether they want what they would be sent.")
    static let webhooksDeactivated = MetricFamily(
        "parley_webhooks_deactivated", .counter,
        "Webhooks deactivated because of what came of their deliveries.")

    private static let process = [
        build, linesDropped, linesSuppressed, cpuTime, residentMemory, openDescriptors,
        descriptorLimit, startTime,
    ]
    static let build = MetricFamily(
        "parley_build_info", .gauge, labels: ["version"], "Always 1; says what runs.")
    static let linesDropped = MetricFamily(
        "parley_log_lines_dropped", .counter, "Log lines dropped because the output was blocked.")
    static let linesSuppressed = MetricFamily(
        "parley_log_lines_suppressed", .counter,
        "Log lines about refused requests that were counted instead of written.")
    static let cpuTime = MetricFamily(
        "process_cpu_seconds", .counter, in: .seconds, "Processor time of this process.")
    static let residentMemory = MetricFamily(
        "process_resident_memory_bytes", .gauge, in: .bytes, "Memory of this process in RAM.")
    static let openDescriptors = MetricFamily(
        "process_open_fds", .gauge, "Descriptors this process has open.")
    static let descriptorLimit = MetricFamily(
        "process_max_fds", .gauge, "Descriptors it may have open.")
    static let startTime = MetricFamily(
        "process_start_time_seconds", .gauge, in: .seconds,
        "When this process started, since 1970.")
}

extension MetricFamily {
    /// The table of the article Metrics.
    static var markdownTable: String {
        let rows = all.map { family in
            let labels = family.labels.map { label in "`\(label)`" }.joined(separator: ", ")
            return
                "| `\(family.sampleName)` | \(family.kind.rawValue) | \(labels) | \(family.help) |"
        }
        return (["| Metric | Kind | Labels | What it says |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }
}
