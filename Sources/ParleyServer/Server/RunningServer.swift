import Console
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

/// A server from its start to the end of its shutdown.
struct RunningServer {
    let settings: Settings
    /// Where the settings came from, to be reloaded (H196).
    let sources: SettingsSources
    let components: ServerComponents
    let log: ServerLog

    /// Starts listening.
    ///
    /// - Throws: ``CommandFailure`` when an address is in use or is not one of this machine.
    func listen() throws(CommandFailure) {
        try start(components.server, on: settings.http.addresses + settings.tls.addresses)
        if let consoleServer = components.consoleServer {
            try start(consoleServer, on: settings.consoleAddresses)
        }
        if let redirect = components.redirect {
            try start(redirect, on: settings.redirectAddresses)
        }
        if let metricsServer = components.metricsServer {
            try start(metricsServer, on: settings.metricsAddresses)
        }
    }

    private func start(
        _ server: Server, on addresses: [ListenAddress]
    ) throws(CommandFailure) {
        do {
            _ = try server.start()
        } catch let error as SystemError {
            throw CommandFailure(error, listeningOn: addresses)
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// Logs the start, with the limits that operators need most often.
    func logStart() {
        let isServer = settings.databaseURL != nil || settings.databaseURLFile != nil
        let shown = Settings.table.filter { setting in Self.loggedAtStart.contains(setting.key) }
            .map { setting in (setting.key, setting.shown(in: settings)) }
        var metadata: Logger.Metadata = [
            "version": "\(Release.version)", "engine": isServer ? "postgresql" : "sqlite",
        ]
        for (key, value) in shown where !value.isEmpty { metadata[key] = "\(value)" }
        let logger = log.logger("parley.server")
        for warning in SettingWarning.all(in: settings) { logger.warning("\(warning)") }
        logger.notice("started", metadata: metadata)
    }

    private static let loggedAtStart: Set<String> = [
        "data.folder", "public_url", "http.listen", "tls.listen", "tls.redirect_listen",
        "console.listen", "metrics.listen", "api.rate_limit", "api.rate_burst",
        "api.max_participants",
        "http.max_connections", "http.max_concurrent_requests", "http.max_buffered_bodies",
        "http.max_connections_per_address", "uploads.max_upload_size",
        "uploads.max_open_uploads_per_owner", "uploads.application_quota",
    ]

    /// Waits for a stop signal, then shuts down gracefully (H194); a second signal ends the process
    /// at once (H195). Until then SIGHUP reloads the settings (H196).
    ///
    /// - Returns: Whether all running work was finished.
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
        components.readiness.end(.stopping)
        following.cancel()
        let exitOnNextSignal = Task {
            for await name in signals where name.stops { exit(1) }
        }
        defer { exitOnNextSignal.cancel() }
        if settings.shutdownDelay > 0 {
            // This task is never cancelled, and a shorter delay would be harmless.
            await pause(milliseconds: settings.shutdownDelay)
        }
        async let uploads: Void = components.uploads.shutdown()
        async let exporter: Void = components.exporter.stop()
        async let eraser: Void = components.eraser.stop()
        async let webhookSupervisor: Void = components.webhookSupervisor.stop()
        // Redirects are answered at once: none runs for long.
        _ = await components.redirect?.drain(deadline: 1000)
        async let jobs: Void? = components.consoleAPI?.stop()
        _ = await components.consoleServer?.drain(deadline: 1000)
        let isClean = await components.server.drain(deadline: settings.shutdownDeadline)
        await uploads
        await exporter
        await eraser
        await webhookSupervisor
        await jobs
        await components.sender.stop()
        await components.maintenance.stop()
        await components.statistics.stop()
        await components.processReporter.stop()
        // Last, so that the shutdown can be monitored.
        _ = await components.metricsServer?.drain(deadline: 1000)
        components.close()
        logStatistics(components.database.statistics, logger)
        logger.notice("stopped", metadata: ["finished": "\(isClean)"])
        log.sink.flush()
        return isClean
    }

    /// Reloads the settings and applies those that may change; invalid settings are logged line by
    /// line and change nothing (H196).
    private func reload(_ current: Settings, _ logger: Logger) async -> Settings {
        do {
            let reader = SettingsReader(try sources.reloaded())
            guard reader.errors.isEmpty else {
                for error in reader.errors { logger.error("setting \(error)") }
                logger.error("settings not reloaded")
                return current
            }
            // First: a file that cannot be read must not change anything either.
            try components.credentials?.reload()
            let reload = SettingsReload(reader.settings, over: current)
            log.threshold.set(reload.settings.logLevel)
            components.apply(reload.settings)
            components.shownSettings.note(reader, running: reload.settings)
            reloadCertificates()
            await reloadDownloadKeys()
            reload.log(to: logger)
            return reload.settings
        } catch {
            logger.error("settings not reloaded", metadata: ["cause": "\(error)"])
            return current
        }
    }

    /// Logs the database's counters; the benchmark reads them.
    private func logStatistics(_ statistics: WriterStatistics, _ logger: Logger) {
        logger.info(
            "database closed",
            metadata: [
                "commits": "\(statistics.commits)", "mutations": "\(statistics.mutations)",
                "largest_batch": "\(statistics.largestBatch)", "replays": "\(statistics.replays)",
            ])
    }

    /// Reloads certificates whenever their files change, and logs it (H165).
    ///
    /// - Returns: A watcher that works until it is released; `nil` without TLS.
    func watchCertificates() -> CertificateWatcher? {
        guard let configuration = settings.secureTransport else { return nil }
        let logger = log.logger("parley.tls")
        for warning in components.server.certificateWarnings {
            logger.warning("certificate", metadata: ["warning": "\(warning)"])
        }
        return CertificateWatcher(components.server, configuration) { result in
            Self.logReload(result, logger)
        }
    }

    /// Reloads certificates on SIGHUP, whether they changed or not (H165, H196).
    private func reloadCertificates() {
        guard let configuration = settings.secureTransport else { return }
        let server = components.server
        let result = Result { () throws(TLSConfigurationError) in
            try server.reload(tls: configuration)
        }
        Self.logReload(result, log.logger("parley.tls"))
    }

    private static func logReload(_ result: Result<Void, TLSConfigurationError>, _ logger: Logger) {
        switch result {
        case .success: logger.notice("certificates reloaded")
        case .failure(let fault):
            logger.error("certificates not reloaded", metadata: ["cause": "\(fault)"])
        }
    }

    /// Starts reloading what other processes write: download keys and bucket credentials.
    private func followOthers() -> Task<Void, Never> {
        let components = components
        let (downloads, bucket) = (log.logger("parley.downloads"), log.logger("parley.bucket"))
        return Task {
            async let keys: Void = components.downloadKeys.follow(components.downloads) { error in
                downloads.error("download keys not reloaded", metadata: ["cause": "\(error)"])
            }
            await components.credentials?.follow { error in
                bucket.error("credentials not reloaded", metadata: ["cause": "\(error)"])
            }
            await keys
        }
    }

    /// Reloads the download keys on SIGHUP, whether they were rotated or not (H196).
    private func reloadDownloadKeys() async {
        let logger = log.logger("parley.downloads")
        do {
            components.downloads.replaceKeys(try await components.downloadKeys.load())
            logger.notice("download keys reloaded")
        } catch {
            // The previous keys stay in use.
            logger.error("download keys not reloaded", metadata: ["cause": "\(error)"])
        }
    }
}

/// The result of reloading the settings of a running server (H196).
struct SettingsReload {
    /// The settings from now on: new values where they may change, otherwise the old ones.
    let settings: Settings
    /// One entry for each setting that differs.
    let changes: [Change]

    /// A setting that differs.
    struct Change: Equatable {
        let key: String
        /// Whether it applies now; otherwise from the next start on.
        let isTaken: Bool
    }

    /// Compares reloaded settings with the current ones.
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

    /// Logs every difference, without its value, which may be a secret.
    func log(to logger: Logger) {
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

/// The signals that the process handles: SIGTERM and SIGINT stop it, SIGHUP reloads its settings.
final class ProcessSignals {
    /// A received signal.
    enum Name: String {
        case terminate = "SIGTERM"
        case interrupt = "SIGINT"
        case hangUp = "SIGHUP"

        /// Whether it stops the process.
        var stops: Bool { self != .hangUp }
    }

    /// The received signals, in order.
    let names: AsyncStream<Name>
    private let sources: [any DispatchSourceSignal]

    /// Installs the handlers: from now on these signals no longer end the process by themselves.
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
