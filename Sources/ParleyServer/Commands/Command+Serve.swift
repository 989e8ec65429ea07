import Blobs
import Console
import FoundationEssentials
import Glibc
import HTTPTransport
import Messaging
import MessagingStore
import PlatformAPI
import Readers
import SQL
import SQLPostgres
import Uploads

extension Command {
    /// Runs the server until a stop signal.
    ///
    /// - Returns: 0 if all running work was finished.
    public static func serve(_ sources: SettingsSources) async throws -> Int32 {
        let settings = try startableSettings(sources).settings
        let signals = ProcessSignals()
        let log = ServerLog(level: settings.logLevel)
        let components = try await ServerComponents(settings, log: log)
        let running = RunningServer(
            settings: settings, sources: sources, components: components, log: log)
        let first = FirstApplication(store: components.store, settings: settings)
        try await first.makeConfigured()
        await components.consoleAPI?.start()
        try running.listen()
        components.store.listen { [uploads = components.uploads] name, holder, request in
            guard let request = UploadWriterRequest(rawValue: request) else { return }
            uploads.answer(request, for: name, at: holder)
        } onSignal: { [api = components.api] application, process, signal in
            api.receive(signal, from: process, in: application)
        }
        components.exporter.start()
        components.eraser.start()
        components.webhookSupervisor.start()
        components.sender.start()
        components.maintenance.start()
        components.shownSettings.note(SettingsReader(sources), running: settings)
        if settings.console.isEnabled { components.statistics.start() }
        components.processReporter.start()
        running.logStart()
        let notice = try await first.makeIfNone()
        let link = try await ConsoleLink(settings: settings, store: components.store).makeIfFirst()
        var greeting =
            "\(Release.name) \(Release.version) serves \(settings.base) from \(settings.dataFolder)"
        if settings.api.allowsDevelopmentLogin {
            greeting += "\nTwo users in a browser: \(settings.base)/demo"
        }
        if let link {
            greeting += "\nLog in to the console (this link works once, within an hour): \(link)"
        }
        // In one write: a script that waits for the first line can read the token, too.
        printLine(notice.map { notice in "\(greeting)\n\n\(notice)" } ?? greeting)
        let trimmer = MemoryTrimmer()
        let watch = running.watchCertificates()
        defer { withExtendedLifetime((trimmer, watch)) {} }
        return await running.untilStopped(by: signals) ? 0 : 1
    }

    /// Reads the settings of a server.
    ///
    /// - Throws: ``CommandFailure`` with one line for each reason why it could not start.
    private static func startableSettings(
        _ sources: SettingsSources
    ) throws(CommandFailure) -> (settings: Settings, check: StartCheck) {
        let reader = SettingsReader(sources)
        let check = StartCheck(reader)
        let errors = check.errors()
        guard errors.isEmpty else { throw CommandFailure(errors.joined(separator: "\n")) }
        return (reader.settings, check)
    }

    /// Prints every error in the settings and in the files, folders and addresses that they name,
    /// and warns of unusual combinations.
    public static func checkConfig(_ sources: SettingsSources) throws -> Int32 {
        let check = try startableSettings(sources).check
        for warning in check.warnings() { printError("parley: warning: \(warning)") }
        printLine("\(Settings.table.count) settings are valid")
        return 0
    }

    /// Checks whether the server on this machine is ready; for container health checks.
    ///
    /// - Returns: 0 if it is ready.
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

    /// Makes the next key sign download URLs; a running server uses it after it reloads its
    /// settings.
    ///
    /// - Parameter invalidatesURLs: Whether URLs signed so far become invalid; otherwise they are valid
    ///   until they expire.
    public static func rotateDownloadKey(
        _ sources: SettingsSources, invalidatesURLs: Bool
    ) async throws -> Int32 {
        let settings = try settings(sources)
        let now = StoreEnvironment.live.now().milliseconds
        let rotation =
            invalidatesURLs
            ? SigningKeys.Rotation.invalidating
            : .keeping(until: now + settings.uploads.longestURLLife)
        let folder = settings.dataFolder
        switch try settings.databaseLocation() {
        case .file, .temporary:
            printKeys(
                at: now,
                try CommandFailure.naming(folder) {
                    try SigningKeys.rotate(rotation, folder: folder, at: now)
                })
            return 0
        case .server:
            return try await withStore(sources) { store in
                printKeys(
                    at: now,
                    try await DownloadKeyStore(store: store, folder: folder).rotate(
                        rotation, at: now))
            }
        }
    }

    private static func printKeys(at now: Int64, _ keys: SigningKeys) {
        for key in keys.ids(at: now) { printLine("\(key.id)\t\(key.role.rawValue)") }
    }

    /// Creates a certificate for trying TLS on this machine, and prints how to use it.
    ///
    /// - Parameters:
    ///   - folder: Created if missing; receives `cert.pem` and `key.pem`.
    ///   - hosts: Names besides `localhost`, `127.0.0.1` and `::1`.
    public static func makeDevelopmentCertificate(in folder: String, hosts: [String]) throws
        -> Int32
    {
        try CommandFailure.naming(folder, as: "folder") { try DraftFolder.make(folder) }
        do {
            let pair = try DevelopmentCertificate.write(to: folder, hosts: hosts)
            printLine(
                """
                \(pair.chain) and \(pair.key) are valid for a year, on this machine only.

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
