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
        do {
            _ = try parts.server.start()
        } catch {
            let addresses = settings.http.addresses.map(\.description).joined(separator: ", ")
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
        let isClean = await parts.server.drain(deadline: settings.shutdownDeadline)
        await uploads
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
