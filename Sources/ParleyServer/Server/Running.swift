import Glibc
import HTTPTransport
import Logging
import SQL
import Telemetry
import Uploads

/// A server from its first listening to its last answer.
struct Running {
    let settings: Settings
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
            let isInUse = (error as? SystemError)?.isAddressInUse == true
            throw StartFailure(
                "cannot listen on \(addresses): \(isInUse ? "the address is in use" : "\(error)")")
        }
    }

    /// Waits for a stop signal, then ends in good order (H194); a second signal ends at once (H195).
    ///
    /// - Returns: Whether everything that had begun was finished.
    func untilStopped(by signals: StopSignals) async -> Bool {
        let logger = log.logger("parley.server")
        let signals = signals.names
        var first = signals.makeAsyncIterator()
        let name = await first.next() ?? "nothing"
        parts.readiness.stop()
        logger.notice("stopping", metadata: ["signal": "\(name)"])
        let impatience = Task {
            for await _ in signals { exit(1) }
        }
        defer { impatience.cancel() }
        if settings.shutdownDelay > 0 {
            // Nobody cancels this task, and a shorter delay would lose nothing but patience.
            try? await Task.sleep(for: .milliseconds(settings.shutdownDelay))
        }
        async let uploads: Void = parts.uploads.shutdown()
        // Redirects are answered at once: nothing of theirs is under way for long.
        _ = await parts.redirect?.drain(deadline: 1000)
        let isClean = await parts.server.drain(deadline: settings.shutdownDeadline)
        await uploads
        // Last, so that the end can be watched, too.
        _ = await parts.metricsServer?.drain(deadline: 1000)
        parts.close()
        tell(parts.database.statistics, logger)
        log.sink.flush()
        return isClean
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
