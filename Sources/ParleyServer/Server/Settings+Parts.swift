import FoundationEssentials
import HTTPTransport
import Logging
import MessagingStore
import SQL

extension Settings {
    /// The base of URLs handed out: what was said, else the first address.
    var base: String {
        if let publicURL { return publicURL }
        for address in http.addresses {
            switch address {
            case .ipv4, .ipv6: return "http://\(address.reachable)"
            case .unix: continue
            }
        }
        return "http://localhost"
    }

    /// The base of upload and download URLs.
    var transferBase: String { uploadPublicBase ?? base }

    /// What the transport is told: one loop per core unless somebody chose.
    var transport: ServerConfiguration {
        var configuration = http
        configuration.loops = loops ?? ProcessInfo.processInfo.activeProcessorCount
        return configuration
    }

    /// From which level on requests are logged.
    var accessLevel: Logger.Level { logsRequests ? logLevel : .critical }

    /// Where the database lies.
    var databaseFile: String { "\(dataFolder)/parley.sqlite" }
}

extension Database {
    /// Opens the database of a data folder, and brings it up to date.
    static func open(_ settings: Settings) throws -> Database {
        var databaseSettings = DatabaseSettings()
        databaseSettings.readers = settings.readers
        return try Database.open(
            .file(settings.databaseFile), migrations: MessagingStore.migrations,
            settings: databaseSettings)
    }
}
