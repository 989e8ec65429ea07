import FoundationEssentials
import Glibc
import HTTPTransport
import Messaging
import MessagingStore
import Readers
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
        let parts = try await ServerComponents(settings, log: log)
        let running = Running(settings: settings, sources: sources, parts: parts, log: log)
        let first = FirstApplication(store: parts.store, settings: settings)
        try await first.makeConfigured()
        try running.listen()
        parts.store.listen { [uploads = parts.uploads] name, holder, request in
            guard let request = UploadWriterRequest(rawValue: request) else { return }
            uploads.answer(request, for: name, at: holder)
        }
        parts.exporter.start()
        parts.webhookSupervisor.start()
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
    private static func refuseGuessableHashing() throws(CommandFailure) {
        guard unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil else {
            throw CommandFailure(
                "SWIFT_DETERMINISTIC_HASHING makes hash tables guessable, unset it")
        }
    }
}

extension Command {
    /// Tells every mistake in the settings, with key, value, rule and origin, and warns of what is seldom
    /// meant.
    public static func checkConfig(_ sources: SettingsSources) throws -> Int32 {
        // A secret in a file of its own is a setting, too.
        let settings = try settings(sources)
        try settings.checkDatabaseLocation()
        for warning in SettingWarning.all(in: settings) { tell("parley: warning: \(warning)") }
        say("\(Settings.table.count) settings in order")
        return 0
    }
}

extension Command {
    /// Asks the server on this machine whether it is ready; for a container's health check.
    ///
    /// - Returns: 0 when it is.
    public static func healthCheck(_ sources: SettingsSources) throws -> Int32 {
        let settings = try settings(sources)
        guard let address = settings.http.addresses.first?.reachable else { return 1 }
        do {
            let status = try HealthProbe.status(of: address, path: "/health/ready")
            guard status == 200 else { throw CommandFailure("\(address) is not ready (\(status))") }
        } catch let error as SystemError {
            throw CommandFailure(
                "\(address) does not answer (\(error.reason)): is a server running there?")
        }
        return 0
    }
}

extension Command {
    /// Has the next key sign download URLs; a running server follows when it reads its settings again.
    ///
    /// - Parameter forgets: Whether URLs signed so far open nothing any more; otherwise they live as
    ///   long as they say.
    public static func rotateDownloadKey(
        _ sources: SettingsSources, forgets: Bool
    ) async throws -> Int32 {
        let settings = try settings(sources)
        let now = StoreEnvironment.live.now().milliseconds
        let rotation =
            forgets
            ? SigningKeys.Rotation.forgetting
            : .keeping(until: now + settings.uploads.longestURLLife)
        let folder = settings.dataFolder
        switch try settings.databaseLocation() {
        case .file, .temporary:
            tell(
                try CommandFailure.naming(folder) {
                    try SigningKeys.rotate(rotation, folder: folder, at: now)
                })
            return 0
        case .server:
            return try await withStore(sources) { store in
                tell(
                    try await DownloadKeyStore(store: store, folder: folder).rotate(
                        rotation, at: now))
            }
        }
    }

    private static func tell(_ keys: SigningKeys) {
        for key in keys.ids { say("\(key.id)\t\(key.role.rawValue)") }
    }
}

extension Command {
    /// Makes a certificate for trying TLS on one's own machine, and says how to use it.
    ///
    /// - Parameters:
    ///   - folder: Made when missing; gets `cert.pem` and `key.pem`.
    ///   - hosts: Names beside `localhost`, `127.0.0.1` and `::1`.
    public static func makeDevelopmentCertificate(in folder: String, hosts: [String]) throws
        -> Int32
    {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("the folder \(folder) cannot be made")
        }
        do {
            let pair = try DevelopmentCertificate.write(to: folder, hosts: hosts)
            say(
                """
                \(pair.chain) and \(pair.key) are good for a year, on this machine only.

                parley serve --set tls.listen=127.0.0.1:8443 \\
                    --set tls.certificates=\(pair.chain) --set tls.keys=\(pair.key)
                curl --cacert \(pair.chain) https://localhost:8443/health/ready
                """)
        } catch {
            throw CommandFailure("\(error)")
        }
        return 0
    }
}
