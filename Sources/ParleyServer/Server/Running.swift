import Delivery
import Glibc
import HTTPTransport
import Locking
import Logging
import MessagingStore
import SQL
import Telemetry
import Uploads

/// A server from its first listening to its last answer.
struct Running {
    let settings: Settings
    /// Where the settings came from, to be read again (H196).
    let sources: SettingsSources
    let parts: Parts
    let log: Log

    /// Listens.
    ///
    /// - Throws: ``StartFailure`` when an address is in use or not ours.
    func listen() throws(StartFailure) {
        try start(parts.server, on: settings.http.addresses + settings.tls.addresses)
        if let redirect = parts.redirect { try start(redirect, on: settings.redirectAddresses) }
        if let metricsServer = parts.metricsServer {
            try start(metricsServer, on: settings.metricsAddresses)
        }
    }

    private func start(
        _ server: Server, on addresses: [ListenAddress]
    ) throws(StartFailure) {
        do {
            _ = try server.start()
        } catch {
            let addresses = addresses.map(\.description).joined(separator: ", ")
            throw StartFailure("cannot listen on \(addresses): \(Self.reason(error))")
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
        async let deliverer: Void = parts.deliverer.stop()
        // Redirects are answered at once: nothing of theirs is under way for long.
        _ = await parts.redirect?.drain(deadline: 1000)
        let isClean = await parts.server.drain(deadline: settings.shutdownDeadline)
        await uploads
        await exporter
        await deliverer
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
            let reload = Reload(reader.settings, over: current)
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
