import Delivery
import Glibc
import Messaging
import MessagingStore
import SQL
import Uploads

extension Command {
    /// Serves until a signal says stop.
    ///
    /// - Returns: 0 when everything that had begun was finished.
    public static func serve(_ sources: SettingsSources) async throws -> Int32 {
        let settings = try settings(sources)
        try refuseGuessableHashing()
        let signals = ProcessSignals()
        let log = Log(level: settings.logLevel)
        let parts = try await Parts(settings, log: log)
        let running = Running(settings: settings, sources: sources, parts: parts, log: log)
        let first = FirstApplication(store: parts.store, settings: settings)
        try await first.makeConfigured()
        try running.listen()
        parts.store.listen { [uploads = parts.uploads] name, holder, request in
            guard let request = UploadRequest(rawValue: request) else { return }
            uploads.answer(request, for: name, at: holder)
        }
        parts.exporter.start()
        parts.deliverer.start()
        parts.sender.start()
        parts.trimmer.start()
        running.tellStart()
        let news = try await first.makeIfNone()
        let greeting =
            "\(Release.name) \(Release.version) serves \(settings.base) from \(settings.dataFolder)"
        // In one piece: whoever waits for the first line finds the token beside it.
        say(news.map { news in "\(greeting)\n\n\(news)" } ?? greeting)
        let trimmer = MemoryTrimmer()
        let watch = running.watchCertificates()
        defer { withExtendedLifetime((trimmer, watch)) {} }
        return await running.untilStopped(by: signals) ? 0 : 1
    }

    /// A switch for debugging takes away the seed of Swift's hash tables, and with it what keeps a
    /// client from choosing keys that collide (H188).
    private static func refuseGuessableHashing() throws(StartFailure) {
        guard unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil else {
            throw StartFailure("SWIFT_DETERMINISTIC_HASHING makes hash tables guessable, unset it")
        }
    }
}
