import HTTP
import HTTPTransport
import Messaging
import PlatformAPI
import Uploads

extension Settings {
    /// Every setting there is: read by the reader, by `check-config`, and by the tests that compare
    /// `Config/parley.json` and the article Settings.
    static let table: [Setting] =
        general + metrics + api + events + webhooks + http + secure + uploads + bucketTable

    private static let general: [Setting] = [
        .url(
            "public_url", \.publicURL,
            "Base of every URL handed out; none: the host that a proxy forwards (`http.forwarded_from`), else the first address."
        ),
        .text(
            "data.folder", \.dataFolder,
            "Folder of the database, uploads and contents; made when missing."),
        .number(
            "data.readers", \.readers, .count(1...64),
            "Database connections that read at the same time."),
        .databaseURL(
            "database.url", \.databaseURL,
            "PostgreSQL server instead of a file in `data.folder`: `postgres://USER:PASSWORD@HOST/NAME`, with libpq's parameters."
        ),
        .file(
            "database.url_file", \.databaseURLFile,
            "File that holds such a URL and nothing else, for a secret that no environment shows."),
        .uuid(
            "app.id", \.applicationID,
            "Application made at start when missing, together with `app.token`."),
        .secret("app.token", \.applicationToken, "Its token, 16 to 255 visible ASCII characters."),
        .file(
            "app.token_file", \.applicationTokenFile,
            "File that holds such a token and nothing else."),
        .choice("log.level", \.logLevel, "Lowest level that is logged."),
        .truth("log.requests", \.logsRequests, "Whether each request gets a line at level info."),
    ]

    private static let metrics: [Setting] = [
        .addresses(
            "metrics.listen", \.metricsAddresses, isOptional: true,
            "Addresses that serve `/metrics` to everybody who reaches them, and nothing else."),
        .secret(
            "metrics.token", \.metricsToken,
            "With it `/metrics` is on `http.listen`, too, for whoever brings it as a bearer token."),
        .file(
            "metrics.token_file", \.metricsTokenFile,
            "File that holds such a token and nothing else."),
    ]

    private static let api: [Setting] = [
        .number(
            "api.rate_limit", \.api.rateLimit.perSecond, .count(0...1_000_000),
            "Requests a second that one token may make over time; 0 turns the limit off."),
        .number(
            "api.rate_burst", \.api.rateLimit.burst, .count(1...1_000_000),
            "Requests that it may make at once, after a rest."),
        .number(
            "api.max_participants", \.messaging.participants, .count(1...100_000),
            "Participants of a conversation; one that has more already may only lose some."),
        .number(
            "api.memory", \.api.memory, .octets(0...1 << 40),
            "Memory for messages as they were answered lately; 0 for none."),
        .number(
            "api.max_moves", \.api.maximumMoves, .count(1...1000),
            "Applications that are exported over HTTP at a time, and as many that are imported."),
        .truth(
            "api.strict_accept", \.api.strictAccept,
            "Whether `Accept` must name a media type of the API with a version; otherwise none means 3.0."
        ),
    ]

    private static let events: [Setting] = [
        .number(
            "events.retention", \.eventRetention, .time(0...3650 * day),
            "How long the log keeps an event, unless an export has still to tell of it; 0 for ever."
        ),
        .number(
            "events.max_streams", \.api.maximumStreams, .count(1...1_000_000),
            "Streams of events and requests that wait for one, of all tokens."),
        .number(
            "events.max_streams_per_token", \.api.maximumStreamsPerToken, .count(1...1_000_000),
            "Those of one token."),
    ]

    private static let http: [Setting] = [
        .addresses(
            "http.listen", \.http.addresses,
            "Addresses: `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`; port 0 lets the system choose."),
        .number("http.loops", \.loops, .count(1...256), "Event loops; none: one per core."),
        .texts(
            "http.allowed_hosts", \.http.head.allowedHosts,
            "Hosts that requests may name, without port; empty allows any."),
        .number(
            "http.max_request_line", \.http.head.requestLine, .octets(64...65_536), "Request line."),
        .number(
            "http.max_header_line", \.http.head.fieldLine, .octets(64...1_048_576),
            "One header field line."),
        .number(
            "http.max_header_bytes", \.http.head.fieldSection, .octets(64...1_048_576),
            "All header fields of a request."),
        .number(
            "http.max_header_fields", \.http.head.fields, .count(1...10_000),
            "Number of header fields."),
        .number(
            "http.header_timeout", \.http.headerTimeout, .time(1...day),
            "From the first octet of a head to its end."),
        .number(
            "http.keep_alive_timeout", \.http.keepAliveTimeout, .time(1...day),
            "Idle time between two requests."),
        .number(
            "http.body_idle_timeout", \.http.bodyIdleTimeout, .time(1...day),
            "Time without any octet of a body."),
        .number(
            "http.min_body_rate", \.http.minimumBodyRate, .count(1...1 << 40),
            "Octets per second a body brings at least."),
        .number(
            "http.body_grace", \.http.bodyGrace, .time(1...day), "How long that rate is not judged."
        ),
        .number(
            "http.request_timeout", \.http.requestTimeout, .time(1...day),
            "Whole request and answer; uploads and downloads excepted."),
        .number(
            "http.handler_timeout", \.http.handlerTimeout, .time(1...day),
            "Work on a request, without the time in which it waits for the body; then 503."),
        .number(
            "http.write_idle_timeout", \.http.writeIdleTimeout, .time(1...day),
            "An answer makes no progress."),
        .number(
            "http.min_write_rate", \.http.minimumWriteRate, .count(1...1 << 40),
            "Octets per second a client takes at least of what waits for it."),
        .number(
            "http.write_grace", \.http.writeGrace, .time(1...day),
            "How long that rate is not judged."),
        .number(
            "http.linger_timeout", \.http.lingerTimeout, .time(1...day),
            "How long the rest of a refused request is read and dropped."),
        .number("http.max_linger", \.http.maximumLinger, .octets(1...1 << 40), "How much of it."),
        .number(
            "http.drain_timeout", \.http.drainTimeout, .time(1...day),
            "How long a body nobody read is read and dropped."),
        .number("http.max_drain", \.http.maximumDrain, .octets(1...1 << 40), "How much of it."),
        .number(
            "http.max_read_per_turn", \.http.readPerTurn, .octets(1024...1 << 24),
            "Octets read from one connection before the others have their turn."),
        .number(
            "http.read_ahead", \.http.readAhead, .octets(1024...1 << 24),
            "Octets read from a pipelining client while it waits for an answer."),
        .number(
            "http.write_high", \.http.writeHigh, .octets(1024...1 << 30),
            "Unsent output above which no further request is looked at."),
        .number(
            "http.write_low", \.http.writeLow, .octets(1024...1 << 30),
            "Unsent output at which a stream that had to wait goes on."),
        .number(
            "http.max_connections", \.http.maximumConnections, .count(1...1_000_000),
            "Open connections, over all loops."),
        .truth(
            "http.overload_reply", \.http.repliesToOverload,
            "Whether connections above that are told so with 503; else they wait to be accepted."),
        .number(
            "http.max_connections_per_address", \.http.maximumConnectionsPerAddress,
            .count(1...1_000_000),
            "Open connections of one IPv4 address or IPv6 network (/64); trusted proxies excepted."),
        .number(
            "http.max_concurrent_requests", \.http.maximumHandlers, .count(1...1_000_000),
            "Requests worked on at the same time."),
        .number(
            "http.max_queue", \.http.maximumQueue, .count(1...1_000_000),
            "Requests that wait for that; more are refused with 503."),
        .number(
            "http.queue_timeout", \.http.queueTimeout, .time(1...day),
            "How long they wait; then 503."),
        .number(
            "http.max_buffered_bodies", \.http.maximumBufferedBodies, .octets(1 << 20...1 << 40),
            "Request bodies held in memory, together; uploads are not held in memory."),
        .blocks(
            "http.trusted_proxies", \.http.trust.proxies,
            "Proxies that are believed: addresses and blocks such as `10.0.0.0/8`, and `unix`."),
        .choice(
            "http.forwarded_from", \.http.trust.source,
            "Where they say who the client is and which host it asked for: `none`, `forwarded`, or `x-forwarded`."
        ),
        .number(
            "http.max_forwarded_hops", \.http.trust.maximumHops, .count(1...100),
            "Proxies in a row that are looked at."),
        .choice(
            "http.proxy_protocol", \.http.proxyProtocol,
            "`required`: every connection begins with a PROXY header (version 2) of such a proxy."),
        .number(
            "http.max_requests_per_connection", \.http.maximumRequests, .count(1...1 << 40),
            "Requests before a connection is closed."),
        .number(
            "http.max_connection_age", \.http.maximumAge, .time(1...30 * day),
            "Age at which a connection is closed after an answer."),
        .number(
            "http.backlog", \.http.backlog, .count(1...65_535),
            "Connections the kernel keeps before they are accepted."),
        .number(
            "http.compress_min", \.api.compressMinimum, .octets(64...1 << 30),
            "Answers of the API are compressed from this size on."),
        .number(
            "http.max_inflate_ratio", \.api.maxInflateRatio, .count(1...1000),
            "Decoded octets for each coded one of a body, after the first 64 KiB."),
        .origins(
            "http.cors_origins", \.api.crossOrigins,
            "Origins whose pages may use the API; `*` is every one, empty none."),
        .number(
            "http.cors_max_age", \.api.crossOriginMaxAge, .time(1000...day),
            "How long a browser may remember what its pages may do."),
        .number(
            "http.shutdown_delay", \.shutdownDelay, .time(0...day),
            "From the stop signal, when readiness turns false, to the end of listening."),
        .number(
            "http.shutdown_deadline", \.shutdownDeadline, .time(1...day),
            "How long running requests may take to finish."),
    ]

    private static let uploads: [Setting] = [
        .number(
            "uploads.max_upload_size", \.uploads.maxUploadSize, .octets(2048...1 << 50),
            "Largest upload, and most bytes of all parts of a message together."),
        .number(
            "uploads.max_open_uploads_per_owner", \.uploads.maxOpenUploadsPerOwner,
            .count(1...1_000_000), "Open uploads of one owner."),
        .url(
            "uploads.upload_public_base", \.uploadPublicBase,
            "Base of upload and download URLs; none: `public_url`."),
        .number(
            "uploads.body_idle_timeout", \.uploads.bodyIdleTimeout, .time(1...day),
            "No body octet for this long stops the request."),
        .number(
            "uploads.min_rate", \.uploads.minRate, .count(0...1 << 40),
            "Octets per second at least; 0 turns it off."),
        .number(
            "uploads.min_rate_grace", \.uploads.minRateGrace, .time(1...day),
            "How long that rate is not judged."),
        .number(
            "uploads.commit_bytes", \.uploads.commitBytes, .octets(4096...1 << 40),
            "A long request makes its octets durable at least this often …"),
        .number(
            "uploads.commit_interval", \.uploads.commitInterval, .time(1...day),
            "… and at least every so long."),
        .number(
            "uploads.takeover_wait", \.uploads.takeoverWait, .time(1...day),
            "How long a newcomer waits for the old writer to stop."),
        .number(
            "uploads.finalize_wait", \.uploads.finalizeWait, .time(1...day),
            "How long a request waits for the end of finalizing."),
        .number(
            "uploads.created_ttl", \.uploads.createdTTL, .time(1...3650 * day),
            "Life of an upload without a byte."),
        .number(
            "uploads.idle_ttl", \.uploads.idleTTL, .time(1...3650 * day),
            "Life after the last durable progress."),
        .number(
            "uploads.absolute_ttl", \.uploads.absoluteTTL, .time(1...3650 * day),
            "Life from creation, whatever happens."),
        .number(
            "uploads.tombstone_ttl", \.uploads.tombstoneTTL, .time(1...3650 * day),
            "How long ended uploads are remembered."),
        .number(
            "uploads.unused_ttl", \.uploads.unusedTTL, .time(1...3650 * day),
            "Life of a finished content that no message needs."),
        .number(
            "uploads.sweep_interval", \.uploads.sweepInterval, .time(1...day),
            "How often expired uploads and contents nobody needs are looked for."),
        .number(
            "uploads.disk_headroom", \.uploads.diskHeadroom, .octets(0...Int64.max),
            "Never given out to uploads; none: the larger of 1 GiB and 5 % of the volume."),
        .number(
            "uploads.application_quota", \.uploads.applicationQuota, .octets(0...Int64.max),
            "Octets that the contents and uploads of one application may have; none: no limit."),
        .number(
            "uploads.max_append_size", \.uploads.maxAppendSize, .octets(1...Int64.max),
            "Octets of one request that a proxy lets through, told to clients; none: all."),
        .choice(
            "uploads.tail", \.bucket.tail,
            "Where uploads to a bucket are kept while they arrive: `local`, in the data folder; `remote`, in bucket and database, so that any process goes on with them; `auto`, remote with a database server."
        ),
        .choice(
            "uploads.interim_104", \.uploads.interim104,
            "When `104` says where to resume: `auto` not through a configured proxy."),
        .number(
            "uploads.progress_104_bytes", \.uploads.progress104Bytes, .octets(1...1 << 40),
            "Durable octets between two `104` that say how far an upload has come."),
        .origins(
            "uploads.allowed_origins", \.uploads.allowedOrigins,
            "Origins whose pages may use the URLs; `*` is every one."),
        .number(
            "uploads.download_url_ttl", \.uploads.downloadURLTTL, .time(1...365 * day),
            "Life of a download URL, rounded up to a quarter of an hour, never below 30 minutes."),
        .number(
            "uploads.download_leeway", \.uploads.downloadLeeway, .time(1...day),
            "How long an expired download URL still works."),
        .number(
            "uploads.max_ranges", \.uploads.maxRanges, .count(1...256),
            "Ranges honoured in one request, after merging."),
    ]

    private static let day: Int64 = 86_400_000
}
