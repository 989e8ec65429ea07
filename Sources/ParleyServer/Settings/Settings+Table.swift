import Console
import HTTP
import HTTPTransport
import JSON
import Messaging
import PlatformAPI
import Readers
import Uploads

extension Settings {
    /// The declarations of all settings: the source of the reader, of `Config/parley.json` and of
    /// the table in the article Settings.
    static let table: [Setting] =
        general + metrics + api + events + webhooks + http + secure + uploads + bucketTable + pages

    private static let general: [Setting] = [
        .url(
            "public_url", \.publicURL,
            "Base of all URLs; none: the host that a proxy forwards (`http.forwarded_from`), else the first address."
        ),
        .text(
            "data.folder", \.dataFolder,
            "Folder of the database, uploads and contents; created if missing."),
        .number(
            "data.readers", \.readers, .count(1...64),
            "Database connections for concurrent reads."),
        .databaseURL(
            "database.url", \.databaseURL,
            "PostgreSQL server instead of a file in `data.folder`: `postgres://USER:PASSWORD@HOST/NAME`, with libpq's parameters."
        ),
        .file(
            "database.url_file", \.databaseURLFile,
            "File that contains only the URL, to keep the secret out of the environment."),
        .uuid(
            "app.id", \.applicationID,
            "Application to create at the start if missing, together with `app.token`."),
        .secret("app.token", \.applicationToken, "Its token, 16 to 255 visible ASCII characters."),
        .file(
            "app.token_file", \.applicationTokenFile,
            "File that contains only the token."),
        .choice("log.level", \.logLevel, "Lowest level that is logged."),
        .boolean("log.requests", \.logsRequests, "Whether each request is logged at level info."),
    ]

    private static let metrics: [Setting] = [
        .addresses(
            "metrics.listen", \.metricsAddresses, isOptional: true,
            "Addresses that serve only `/metrics`, without a token."),
        .secret(
            "metrics.token", \.metricsToken,
            "Bearer token with which `http.listen` serves `/metrics`, too."),
        .file(
            "metrics.token_file", \.metricsTokenFile,
            "File that contains only the token."),
    ]

    private static let api: [Setting] = [
        .number(
            "api.rate_limit", \.api.rateLimit.perSecond, .count(0...1_000_000),
            "Requests per second of one token, on average; 0 for no limit."),
        .number(
            "api.rate_burst", \.api.rateLimit.burst, .count(1...1_000_000),
            "Requests that one token may send in a burst."),
        .number(
            "api.max_participants", \.messaging.participants, .count(1...100_000),
            "Maximum participants of a conversation; a larger one can only lose participants."),
        .number(
            "api.wide_conversation", \.messaging.wideConversation, .count(1...100_000),
            "Participants above which a conversation is wide; applied when its participants change next."
        ),
        .number(
            "api.memory", \.api.memory, .bytes(0...1 << 40),
            "Memory of the message cache; 0 for none."),
        .number(
            "api.max_moves", \.api.maximumTransfers, .count(1...1000),
            "Concurrent exports over HTTP, and the same number of imports."),
        .boolean(
            "api.strict_accept", \.api.strictAccept,
            "Whether `Accept` must name the API's media type with a version; if false, the default is 3.0."
        ),
        .boolean(
            "api.dev_login", \.api.allowsDevelopmentLogin,
            "Whether `POST /dev/login` returns session tokens of any user; only to try things out."),
    ]

    private static let events: [Setting] = [
        .number(
            "events.retention", \.eventRetention, .time(0...3650 * day),
            "How long events are kept, and longer if an export still needs them; 0 for ever."
        ),
        .number(
            "events.max_streams", \.api.maximumStreams, .count(1...1_000_000),
            "Event streams, long polls and WebSockets of all tokens and users."),
        .number(
            "events.max_streams_per_token", \.api.maximumStreamsPerToken, .count(1...1_000_000),
            "Event streams and long polls of one token."),
        .number(
            "events.max_streams_per_user", \.api.maximumStreamsPerUser, .count(1...1_000_000),
            "Event streams, long polls and WebSockets of one user, in all sessions together."),
    ]

    private static let http: [Setting] = [
        .addresses(
            "http.listen", \.http.addresses,
            "Addresses: `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`; port 0 lets the system choose."),
        .number("http.loops", \.loops, .count(1...256), "Event loops; none: one per core."),
        .hosts(
            "http.allowed_hosts", \.http.head.allowedHosts,
            "Hosts that requests may name, without port; empty for any, except for the demo and its login."
        ),
        .number(
            "http.max_request_line", \.http.head.requestLine, .bytes(64...65_536),
            "Longest request line."),
        .number(
            "http.max_header_line", \.http.head.fieldLine, .bytes(64...1_048_576),
            "Longest header line."),
        .number(
            "http.max_header_bytes", \.http.head.fieldSection, .bytes(64...1_048_576),
            "Size of all headers of a request."),
        .number(
            "http.max_header_fields", \.http.head.fields, .count(1...10_000),
            "Maximum number of headers of a request."),
        .number(
            "http.header_timeout", \.http.headerTimeout, .time(1...day),
            "Time from the first byte of the headers to their end."),
        .number(
            "http.keep_alive_timeout", \.http.keepAliveTimeout, .time(1...day),
            "Idle time between two requests."),
        .number(
            "http.body_idle_timeout", \.http.bodyIdleTimeout, .time(1...day),
            "Time without any byte of a request body."),
        .number(
            "http.min_body_rate", \.http.minimumBodyRate, .count(1...1 << 40),
            "Slowest rate of a request body, in bytes per second."),
        .number(
            "http.body_grace", \.http.bodyGrace, .time(1...day),
            "Time before `http.min_body_rate` applies."
        ),
        .number(
            "http.request_timeout", \.http.requestTimeout, .time(1...day),
            "Whole request and response, except uploads and downloads."),
        .number(
            "http.handler_timeout", \.http.handlerTimeout, .time(1...day),
            "Time of a handler, without waiting for the body; then 503."),
        .number(
            "http.write_idle_timeout", \.http.writeIdleTimeout, .time(1...day),
            "Time without any byte of a response sent."),
        .number(
            "http.min_write_rate", \.http.minimumWriteRate, .count(1...1 << 40),
            "Slowest rate at which a client reads a response, in bytes per second."),
        .number(
            "http.write_grace", \.http.writeGrace, .time(1...day),
            "Time before `http.min_write_rate` applies."),
        .number(
            "http.linger_timeout", \.http.lingerTimeout, .time(1...day),
            "How long the rest of a refused request is read and discarded."),
        .number(
            "http.max_linger", \.http.maximumLinger, .bytes(1...1 << 40),
            "How many bytes of a refused request are discarded."),
        .number(
            "http.drain_timeout", \.http.drainTimeout, .time(1...day),
            "How long an unread request body is read and discarded."),
        .number(
            "http.max_drain", \.http.maximumDrain, .bytes(1...1 << 40),
            "How many bytes of an unread request body are discarded."),
        .number(
            "http.max_read_per_turn", \.http.readPerTurn, .bytes(1024...1 << 24),
            "Bytes read from one connection before others are served."),
        .number(
            "http.read_ahead", \.http.readAhead, .bytes(1024...1 << 24),
            "Bytes read from a pipelining client before its response is sent."),
        .number(
            "http.write_high", \.http.writeHigh, .bytes(1024...1 << 30),
            "Unsent output above which further requests are not read."),
        .number(
            "http.write_low", \.http.writeLow, .bytes(1024...1 << 30),
            "Unsent output below which a paused stream resumes."),
        .number(
            "http.max_connections", \.http.maximumConnections, .count(1...1_000_000),
            "Open connections, over all loops."),
        .boolean(
            "http.overload_reply", \.http.repliesToOverload,
            "Whether connections above `http.max_connections` get 503; if false, they wait to be accepted."
        ),
        .number(
            "http.max_connections_per_address", \.http.maximumConnectionsPerAddress,
            .count(1...1_000_000),
            "Open connections of one IPv4 address or IPv6 network (/64), except trusted proxies."),
        .number(
            "http.max_concurrent_requests", \.http.maximumHandlers, .count(1...1_000_000),
            "Concurrent requests."),
        .number(
            "http.max_queue", \.http.maximumQueue, .count(1...1_000_000),
            "Queued requests; further ones get 503."),
        .number(
            "http.queue_timeout", \.http.queueTimeout, .time(1...day),
            "Time in the queue; then 503."),
        .number(
            "http.max_buffered_bodies", \.http.maximumBufferedBodies, .bytes(1 << 20...1 << 40),
            "Memory for all request bodies except uploads, which are streamed."),
        .blocks(
            "http.trusted_proxies", \.http.trust.proxies,
            "Trusted proxies: addresses and blocks such as `10.0.0.0/8`, and `unix`."),
        .choice(
            "http.forwarded_from", \.http.trust.source,
            "Headers from which the client and host are taken: `none`, `forwarded`, or `x-forwarded`."
        ),
        .number(
            "http.max_forwarded_hops", \.http.trust.maximumHops, .count(1...100),
            "Maximum number of proxies read from a forwarding header."),
        .choice(
            "http.proxy_protocol", \.http.proxyProtocol,
            "`required`: every connection begins with a PROXY header (version 2) of a trusted proxy."
        ),
        .number(
            "http.max_requests_per_connection", \.http.maximumRequests, .count(1...1 << 40),
            "Requests before a connection is closed."),
        .number(
            "http.max_connection_age", \.http.maximumAge, .time(1...30 * day),
            "Age at which a connection is closed after an answer."),
        .number(
            "http.backlog", \.http.backlog, .count(1...65_535),
            "Connections that the kernel queues before they are accepted."),
        .number(
            "http.compress_min", \.api.compressMinimum, .bytes(64...1 << 30),
            "Smallest API response that is compressed."),
        .number(
            "http.max_inflate_ratio", \.api.maxInflateRatio, .count(1...1000),
            "Decoded bytes per encoded byte of a body, after the first 64 KiB."),
        .origins(
            "http.cors_origins", \.api.crossOrigins,
            "Origins whose pages may use the API; `*` for all, empty for none."),
        .number(
            "http.cors_max_age", \.api.crossOriginMaxAge, .time(1000...day),
            "How long browsers may cache the answer to a preflight."),
        .number(
            "http.shutdown_delay", \.shutdownDelay, .time(0...day),
            "Time from the stop signal, when readiness turns false, to the end of listening."),
        .number(
            "http.shutdown_deadline", \.shutdownDeadline, .time(1...day),
            "How long running requests may take to finish."),
    ]

    private static let uploads: [Setting] = [
        .number(
            "uploads.max_upload_size", \.uploads.maxUploadSize, .bytes(2048...1 << 50),
            "Largest upload, and maximum size of all parts of a message together."),
        .number(
            "uploads.max_open_uploads_per_owner", \.uploads.maxOpenUploadsPerOwner,
            .count(1...1_000_000), "Open uploads of one owner."),
        .url(
            "uploads.upload_public_base", \.uploadPublicBase,
            "Base of upload and download URLs; none: `public_url`."),
        .number(
            "uploads.body_idle_timeout", \.uploads.bodyIdleTimeout, .time(1...day),
            "Time without any byte of an upload's body; then the request ends."),
        .number(
            "uploads.min_rate", \.uploads.minRate, .count(0...1 << 40),
            "Slowest rate of an upload's body, in bytes per second; 0 for no limit."),
        .number(
            "uploads.min_rate_grace", \.uploads.minRateGrace, .time(1...day),
            "Time before `uploads.min_rate` applies."),
        .number(
            "uploads.commit_bytes", \.uploads.commitBytes, .bytes(4096...1 << 40),
            "Bytes of a running request after which they are synced to disk."),
        .number(
            "uploads.commit_interval", \.uploads.commitInterval, .time(1...day),
            "Time after which the bytes of a running request are synced to disk."),
        .number(
            "uploads.takeover_wait", \.uploads.takeoverWait, .time(1...day),
            "How long a new request waits for the previous one to stop."),
        .number(
            "uploads.finalize_wait", \.uploads.finalizeWait, .time(1...day),
            "How long a request waits until the upload is finalized."),
        .number(
            "uploads.created_ttl", \.uploads.createdTTL, .time(1...3650 * day),
            "Lifetime of an upload that has received no byte."),
        .number(
            "uploads.idle_ttl", \.uploads.idleTTL, .time(1...3650 * day),
            "Lifetime of an upload after its last durable progress."),
        .number(
            "uploads.absolute_ttl", \.uploads.absoluteTTL, .time(1...3650 * day),
            "Lifetime of an upload from its creation, regardless of progress."),
        .number(
            "uploads.tombstone_ttl", \.uploads.tombstoneTTL, .time(1...3650 * day),
            "How long records of ended uploads are kept."),
        .number(
            "uploads.unused_ttl", \.uploads.unusedTTL, .time(1...3650 * day),
            "Lifetime of complete content that no message uses."),
        .number(
            "uploads.sweep_interval", \.uploads.sweepInterval, .time(1...day),
            "Interval between deletions of expired uploads and unused contents."),
        .number(
            "uploads.disk_headroom", \.uploads.diskHeadroom, .bytes(0...Int64.max),
            "Disk space kept free; none: the larger of 1 GiB and 5 % of the volume."),
        .number(
            "uploads.application_quota", \.uploads.applicationQuota, .bytes(0...Int64.max),
            "Bytes of all contents and uploads of one application; none: no limit."),
        .number(
            "uploads.max_append_size", \.uploads.maxAppendSize, .bytes(1...Int64.max),
            "Maximum bytes per request, announced to clients, for proxies with a limit; none: no limit."
        ),
        .choice(
            "uploads.tail", \.bucket.tail,
            "Where uploads to a bucket are kept while they arrive: `local`, in the data folder; `remote`, in bucket and database, so that any process can resume them; `auto`, remote with a database server."
        ),
        .choice(
            "uploads.interim_104", \.uploads.interim104,
            "Whether `104` responses with the upload's URL and offset are sent; `auto`: not through a configured proxy."
        ),
        .number(
            "uploads.progress_104_bytes", \.uploads.progress104Bytes, .bytes(1...1 << 40),
            "Persisted bytes between two `104` responses with the upload's offset."),
        .origins(
            "uploads.allowed_origins", \.uploads.allowedOrigins,
            "Origins whose pages may use the URLs; `*` for all."),
        .number(
            "uploads.download_url_ttl", \.uploads.downloadURLTTL, .time(1...365 * day),
            "Lifetime of a download URL, rounded up to a quarter of an hour, at least 30 minutes."),
        .number(
            "uploads.download_leeway", \.uploads.downloadLeeway, .time(1...day),
            "How long an expired download URL still works."),
        .number(
            "uploads.max_ranges", \.uploads.maxRanges, .count(1...256),
            "Ranges per request, after merging."),
    ]

    private static let day: Int64 = 86_400_000
}

extension Settings {
    /// The settings of webhooks, a part of the table.
    private static let webhooks: [Setting] = [
        .blocks(
            "webhooks.allowed_networks", \.api.outbound.allowedNetworks,
            "Private networks that targets may be in, such as `10.1.2.0/24`."),
        .boolean(
            "webhooks.allow_http", \.api.outbound.allowsHTTP,
            "Whether targets may use `http`, which is not encrypted."),
        .file(
            "webhooks.authorities", \.webhooks.authorities,
            "PEM file of CA certificates for webhook targets; none: the system's."),
        .number(
            "webhooks.connect_timeout", \.webhooks.connectTimeout, .time(1...60_000),
            "Time to connect to a target, TLS included."),
        .number(
            "webhooks.answer_timeout", \.webhooks.responseTimeout, .time(1...60_000),
            "Time from the sent request to its response."),
        .number(
            "webhooks.verify_timeout", \.webhooks.verifiesWithin, .time(1...60_000),
            "Time of a verification."),
        .times(
            "webhooks.retry_schedule", \.webhooks.schedule.waits, 1...30 * 86_400_000,
            "Delays between the attempts of a delivery, which is dead after the last."),
        .number(
            "webhooks.concurrency", \.webhooks.concurrency, .count(1...256),
            "Concurrent deliveries of one webhook, each of another conversation."),
        .number(
            "webhooks.dead_share", \.webhooks.deadShare, .count(0...100),
            "Percentage of dead deliveries above which a webhook is deactivated."),
        .number(
            "webhooks.retention", \.webhooks.retention, .time(0...3650 * 86_400_000),
            "How long finished deliveries are kept; 0 for ever."),
    ]
}

extension Settings {
    /// The settings of TLS, a part of the table.
    private static let secure: [Setting] = [
        .addresses(
            "tls.listen", \.tls.addresses, isOptional: true,
            "Addresses with TLS, as in `http.listen`."),
        .texts(
            "tls.certificates", \.tlsCertificates,
            "PEM files of certificate chains; the first is the default."),
        .texts("tls.keys", \.tlsKeys, "PEM files of their keys, in the same order."),
        .choice(
            "tls.unknown_name", \.tls.unknownName,
            "Whether a client that sends an unknown server name gets the default certificate or an alert."
        ),
        .boolean(
            "tls.allow_expired", \.tls.allowsExpired,
            "Whether expired certificates are served."),
        .choice(
            "tls.client_certificates", \.tls.clientCertificates,
            "Whether clients may or must send a certificate."),
        .file(
            "tls.client_bundle", \.tls.clientBundle,
            "PEM file of CA certificates for client certificates."),
        .boolean("tls.tickets", \.tls.hasTickets, "Whether clients may resume their sessions."),
        .number(
            "tls.ticket_rotation", \.tls.ticketRotation, .time(60_000...43_200_000),
            "How long a key encrypts tickets; it decrypts them for as long again."),
        .number(
            "tls.handshake_timeout", \.tls.handshakeTimeout, .time(1...86_400_000),
            "Time from accept to the end of the handshake."),
        .number(
            "tls.max_handshakes", \.tls.maximumHandshakes, .count(1...1_000_000),
            "Concurrent handshakes."),
        .number(
            "tls.max_key_updates", \.tls.maximumKeyUpdates, .count(1...1_000_000),
            "Handshake messages after the handshake without data in between."),
        .number(
            "tls.hsts_max_age", \.strictTransportAge, .time(0...63_072_000_000),
            "How long browsers remember to use TLS only; 0 sends no header."),
        .addresses(
            "tls.redirect_listen", \.redirectAddresses, isOptional: true,
            "Addresses without TLS that redirect to `public_url`."),
    ]
}

extension Settings {
    /// The settings of the bucket, a part of the table.
    private static let bucketTable: [Setting] = [
        .file(
            "s3.bucket", \.bucket.name,
            "Existing bucket for contents; none: the data folder."),
        .url(
            "s3.endpoint", \.bucket.endpoint,
            "URL of an S3-compatible store; none: Amazon's in `s3.region`."),
        .text("s3.region", \.bucket.region, "Region in signatures."),
        .file(
            "s3.prefix", \.bucket.prefix, "Prefix of every key, such as `parley/`."),
        .choice(
            "s3.style", \.bucket.style,
            "Where the bucket's name is in URLs: `path`, or `virtual-host`."),
        .credential("s3.access_key", \.bucket.accessKey, "Access key id."),
        .file(
            "s3.access_key_file", \.bucket.accessKeyFile,
            "File that contains only the key."),
        .credential("s3.secret_key", \.bucket.secretKey, "Secret access key."),
        .file(
            "s3.secret_key_file", \.bucket.secretKeyFile,
            "File that contains only the key."),
        .credential(
            "s3.session_token", \.bucket.sessionToken,
            "Session token of temporary credentials."),
        .file(
            "s3.session_token_file", \.bucket.sessionTokenFile,
            "File that contains only the token."),
        .file(
            "s3.credentials_file", \.bucket.credentialsFile,
            "File with `aws_access_key_id` and `aws_secret_access_key` under `[default]`, instead of keys."
        ),
        .file(
            "s3.authorities", \.bucket.authorities,
            "PEM file of CA certificates for the store; none: the system's."),
        .boolean(
            "s3.unsigned_payload", \.bucket.leavesPayloadUnsigned,
            "Whether bodies are sent without their SHA-256, for speed; with TLS only."),
        .boolean(
            "s3.checksums", \.bucket.sendsPartChecksums,
            "Whether parts are sent with their CRC-32C, if the store supports it; do not change it during uploads."
        ),
        .boolean(
            "s3.redirect", \.bucket.redirects,
            "Whether downloads are answered with 307 and a pre-signed URL of the store."),
    ]

    private static let pages: [Setting] = [
        .boolean(
            "console.enabled", \.console.isEnabled,
            "Whether `/console` serves the operator console and its API."),
        .addresses(
            "console.listen", \.consoleAddresses, isOptional: true,
            "Addresses without TLS that alone serve the console; by default `http.listen` and `tls.listen` do."
        ),
        .boolean(
            "console.allow_http", \.console.allowsHTTP,
            "Whether operators may log in without TLS from other machines."),
        .blocks(
            "console.allowed_networks", \.console.allowedNetworks,
            "Blocks of the addresses that may use the API of the console; empty for all."),
        .number(
            "console.session_ttl", \.console.sessionLifetime, .time(60_000...30 * day),
            "Time from a login to the console to the end of its session."),
        .number(
            "console.idle_ttl", \.console.idleLifetime, .time(60_000...30 * day),
            "Time without a request after which a session of the console ends."),
        .boolean(
            "console.show_content", \.console.showsContent,
            "Whether the console shows the contents of messages; if false, they are `[hidden]`."),
        .file(
            "console.backup_folder", \.console.backupFolder,
            "Folder for the backups that operators make in the console; by default they cannot."),
        .boolean(
            "docs.enabled", \.servesDocumentation,
            "Whether `/docs` serves the documentation, to which the `url` of an error leads."),
    ]
}

extension Settings {
    /// `Config/parley.json`: every setting with its default, in the order of the table.
    static var defaultFile: String {
        var lines: [String] = []
        var group = ""
        for setting in table {
            let parts = setting.key.split(separator: ".").map(String.init)
            let newGroup = parts.count > 1 ? parts[0] : ""
            if newGroup != group {
                if !group.isEmpty { close(&lines) }
                if !newGroup.isEmpty { lines.append("  \"\(newGroup)\": {") }
                group = newGroup
            }
            var writer = JSONWriter()
            setting.writeDefault(to: &writer)
            let indent = group.isEmpty ? "  " : "    "
            lines.append(
                "\(indent)\"\(parts[parts.count - 1])\": \(String(decoding: writer.bytes, as: UTF8.self)),"
            )
        }
        if !group.isEmpty { close(&lines) }
        dropComma(&lines)
        return "{\n" + lines.joined(separator: "\n") + "\n}\n"
    }

    /// The table of the article Settings.
    static var markdownTable: String {
        let rows = table.map { setting in
            let value = setting.shown(in: Settings())
            return
                "| `\(setting.key)` | \(value.isEmpty ? "none" : "`\(value)`") | `\(setting.environmentName)` | \(setting.help)\(setting.isFixed ? " †" : "") |"
        }
        return (["| Setting | Default | Environment | What it does |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    private static func close(_ lines: inout [String]) {
        dropComma(&lines)
        lines.append("  },")
    }

    private static func dropComma(_ lines: inout [String]) {
        lines[lines.count - 1].removeLast()
    }
}
