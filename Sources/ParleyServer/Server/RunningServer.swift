import Dispatch
import Glibc
import HTTPTransport
import Logging
import MessagingStore
import Readers
import SQL
import SystemSupport
import Telemetry
import Uploads

/// A server from its first listening to its last answer.
struct Running {
    let settings: Settings
    /// Where the settings came from, to be read again (H196).
    let sources: SettingsSources
    let parts: ServerComponents
    let log: Log

    /// Listens.
    ///
    /// - Throws: ``CommandFailure`` when an address is in use or not ours.
    func listen() throws(CommandFailure) {
        try start(parts.server, on: settings.http.addresses + settings.tls.addresses)
        if let redirect = parts.redirect { try start(redirect, on: settings.redirectAddresses) }
        if let metricsServer = parts.metricsServer {
            try start(metricsServer, on: settings.metricsAddresses)
        }
    }

    private func start(
        _ server: Server, on addresses: [ListenAddress]
    ) throws(CommandFailure) {
        do {
            _ = try server.start()
        } catch {
            let addresses = addresses.map(\.description).joined(separator: ", ")
            throw CommandFailure("cannot listen on \(addresses): \(Self.reason(error))")
        }
    }

    /// Why nothing listens, and what helps.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? SystemError else { return "\(error)" }
        if error.isAddressInUse {
            return "the address is in use by another process: stop it, or choose another address"
        }
        if error.isDenied {
            return
                "\(error.reason): ports below 1024 need the capability CAP_NET_BIND_SERVICE, Unix sockets a folder that this user may write"
        }
        return "\(error.reason): choose an address of this machine"
    }

    /// Logs what serves from now on, and the limits that operators are asked for first.
    func tellStart() {
        let isServer = settings.databaseURL != nil || settings.databaseURLFile != nil
        let shown = Settings.table.filter { setting in Self.toldAtStart.contains(setting.key) }
            .map { setting in (setting.key, setting.shown(in: settings)) }
        var metadata: Logger.Metadata = [
            "version": "\(Release.version)", "engine": isServer ? "postgresql" : "sqlite",
        ]
        for (key, value) in shown where !value.isEmpty { metadata[key] = "\(value)" }
        let logger = log.logger("parley.server")
        for warning in SettingWarning.all(in: settings) { logger.warning("\(warning)") }
        logger.notice("started", metadata: metadata)
    }

    private static let toldAtStart: Set<String> = [
        "data.folder", "public_url", "http.listen", "tls.listen", "tls.redirect_listen",
        "metrics.listen", "api.rate_limit", "api.rate_burst", "api.max_participants",
        "http.max_connections", "http.max_concurrent_requests", "http.max_buffered_bodies",
        "http.max_connections_per_address", "uploads.max_upload_size",
        "uploads.max_open_uploads_per_owner", "uploads.application_quota",
    ]

    /// Waits for a stop signal, then ends in good order (H194); a second one ends at once (H195).
    /// Meanwhile settings are read anew as often as a signal says so (H196).
    ///
    /// - Returns: Whether everything that had begun was finished.
    func untilStopped(by signals: ProcessSignals) async -> Bool {
        let logger = log.logger("parley.server")
        let signals = signals.names
        var settings = self.settings
        let following = followOthers()
        var next = signals.makeAsyncIterator()
        while let name = await next.next() {
            if name.stops {
                logger.notice("stopping", metadata: ["signal": "\(name.rawValue)"])
                break
            }
            settings = await reload(settings, logger)
        }
        parts.readiness.end()
        following.cancel()
        let impatience = Task {
            for await name in signals where name.stops { exit(1) }
        }
        defer { impatience.cancel() }
        if settings.shutdownDelay > 0 {
            // Nobody cancels this task, and a shorter delay would lose nothing but patience.
            await pause(milliseconds: settings.shutdownDelay)
        }
        async let uploads: Void = parts.uploads.shutdown()
        async let exporter: Void = parts.exporter.stop()
        async let webhookSupervisor: Void = parts.webhookSupervisor.stop()
        // Redirects are answered at once: nothing of theirs is under way for long.
        _ = await parts.redirect?.drain(deadline: 1000)
        let isClean = await parts.server.drain(deadline: settings.shutdownDeadline)
        await uploads
        await exporter
        await webhookSupervisor
        await parts.sender.stop()
        await parts.trimmer.stop()
        // Last, so that the end can be watched, too.
        _ = await parts.metricsServer?.drain(deadline: 1000)
        parts.close()
        tell(parts.database.statistics, logger)
        logger.notice("stopped", metadata: ["finished": "\(isClean)"])
        log.sink.flush()
        return isClean
    }

    /// Reads the settings again and takes over what may change; what is wrong is told line by line and
    /// changes nothing (H196).
    private func reload(_ current: Settings, _ logger: Logger) async -> Settings {
        do {
            let reader = SettingsReader(try sources.again())
            guard reader.mistakes.isEmpty else {
                for mistake in reader.mistakes { logger.error("setting \(mistake)") }
                logger.error("settings not reloaded")
                return current
            }
            // First: a file that cannot be read changes nothing either.
            try parts.credentials?.reload()
            let reload = SettingsReload(reader.settings, over: current)
            log.threshold.set(reload.settings.logLevel)
            parts.apply(reload.settings)
            reloadCertificates()
            await reloadDownloadKeys()
            reload.tell(logger)
            return reload.settings
        } catch {
            logger.error("settings not reloaded", metadata: ["cause": "\(error)"])
            return current
        }
    }

    /// What the writer has done; the benchmark reads it.
    private func tell(_ statistics: WriterStatistics, _ logger: Logger) {
        logger.info(
            "database closed",
            metadata: [
                "commits": "\(statistics.commits)", "mutations": "\(statistics.mutations)",
                "largest_batch": "\(statistics.largestBatch)", "replays": "\(statistics.replays)",
            ])
    }
}

extension Running {
    /// Reads the certificates again whenever their files change, and says so (H165).
    ///
    /// - Returns: What must be held for as long as that is to go on; `nil` without TLS.
    func watchCertificates() -> CertificateWatcher? {
        guard let configuration = settings.secureTransport else { return nil }
        let logger = log.logger("parley.tls")
        for warning in parts.server.certificateWarnings {
            logger.warning("certificate", metadata: ["warning": "\(warning)"])
        }
        return CertificateWatcher(parts.server, configuration) { result in
            Self.tell(result, logger)
        }
    }

    /// Reads them again because a signal says so, changed or not (H165, H196).
    func reloadCertificates() {
        guard let configuration = settings.secureTransport else { return }
        let server = parts.server
        let result = Result { () throws(TLSConfigurationError) in
            try server.reload(tls: configuration)
        }
        Self.tell(result, log.logger("parley.tls"))
    }

    private static func tell(_ result: Result<Void, TLSConfigurationError>, _ logger: Logger) {
        switch result {
        case .success: logger.notice("certificates reloaded")
        case .failure(let fault):
            logger.error("certificates not reloaded", metadata: ["cause": "\(fault)"])
        }
    }
}

extension Running {
    /// Goes on to read what others write: keys of download URLs, and credentials of the bucket.
    func followOthers() -> Task<Void, Never> {
        let parts = parts
        let (downloads, bucket) = (log.logger("parley.downloads"), log.logger("parley.bucket"))
        return Task {
            async let keys: Void = parts.downloadKeys.follow(parts.downloads) { error in
                downloads.error("download keys not reloaded", metadata: ["cause": "\(error)"])
            }
            await parts.credentials?.follow { error in
                bucket.error("credentials not reloaded", metadata: ["cause": "\(error)"])
            }
            await keys
        }
    }

    /// Reads the keys of download URLs again because a signal says so, rotated or not (H196).
    func reloadDownloadKeys() async {
        let logger = log.logger("parley.downloads")
        do {
            parts.downloads.replaceKeys(try await parts.downloadKeys.load())
            logger.notice("download keys reloaded")
        } catch {
            // The keys that were read before go on to sign.
            logger.error("download keys not reloaded", metadata: ["cause": "\(error)"])
        }
    }
}

/// Settings that were read again while the server runs (H196).
struct SettingsReload {
    /// What holds from now on: the new values of what may change, the old ones of all else.
    let settings: Settings
    /// One line for each setting that differs.
    let changes: [Change]

    /// One setting that differs.
    struct Change: Equatable {
        let key: String
        /// Whether it holds now; else from the next start on.
        let isTaken: Bool
    }

    /// Compares what was read with what holds.
    init(_ read: Settings, over current: Settings) {
        var settings = current
        var changes: [Change] = []
        for setting in Settings.table {
            let value = setting.read(read)
            guard value != setting.read(current) else { continue }
            changes.append(Change(key: setting.key, isTaken: setting.isReloadable))
            if setting.isReloadable { setting.write(&settings, value) }
        }
        self.settings = settings
        self.changes = changes
    }

    /// Tells of every difference, without its value, which may be a secret.
    func tell(_ logger: Logger) {
        for change in changes {
            let metadata: Logger.Metadata = ["setting": "\(change.key)"]
            if change.isTaken {
                logger.notice("setting changed", metadata: metadata)
            } else {
                logger.warning("setting needs a restart", metadata: metadata)
            }
        }
        logger.notice("settings reloaded", metadata: ["changes": "\(changes.count)"])
    }
}

/// The signals this process understands: SIGTERM from whoever runs it and SIGINT from a keyboard ask it
/// to end, SIGHUP to read its settings anew.
final class ProcessSignals {
    /// One that came.
    enum Name: String {
        case terminate = "SIGTERM"
        case interrupt = "SIGINT"
        case hangUp = "SIGHUP"

        /// Whether it asks the process to end.
        var stops: Bool { self != .hangUp }
    }

    /// The signals, as they come.
    let names: AsyncStream<Name>
    private let sources: [any DispatchSourceSignal]

    /// Takes the signals over: from now on they do not end the process by themselves.
    init() {
        let (names, continuation) = AsyncStream.makeStream(of: Name.self)
        self.names = names
        let numbers: [(Int32, Name)] = [
            (SIGTERM, .terminate), (SIGINT, .interrupt), (SIGHUP, .hangUp),
        ]
        sources = numbers.map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in continuation.yield(name) }
            source.resume()
            return source
        }
    }
}
