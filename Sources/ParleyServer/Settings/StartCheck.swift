import FoundationEssentials
import Glibc
import HTTPTransport
import Readers
import SQLPostgres

/// Finds the errors that would prevent a start and can be found without starting; `serve` and
/// `check-config` print the same lines.
///
/// What depends on other processes is not checked: an address or a folder in use, the database, the store.
struct StartCheck {
    private let reader: SettingsReader

    init(_ reader: SettingsReader) { self.reader = reader }

    private var settings: Settings { reader.settings }

    /// One line for each error: first those of the settings, then those of the files, folders and
    /// addresses that they name.
    func errors() -> [String] {
        reader.errors.map { error in "setting \(error)" } + environment() + dataFolder()
            + database() + bucket() + certificates() + authorities() + addresses()
    }

    /// One line for each allowed but unusual setting and certificate.
    func warnings() -> [String] {
        SettingWarning.all(in: settings)
            + (settings.secureTransport.map { TLSCheck($0).warnings } ?? [])
    }

    /// Refuses a debugging variable that removes the random seed of Swift's hash tables, which
    /// keeps clients from choosing colliding keys (H188).
    private func environment() -> [String] {
        // Only compared with `nil`, never read.
        unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil
            ? [] : ["SWIFT_DETERMINISTIC_HASHING makes hash tables guessable, unset it"]
    }

    private func dataFolder() -> [String] {
        guard !reader.errors.contains(where: { error in error.key == "data.folder" }) else {
            return []
        }
        return lines { () throws(CommandFailure) in
            try DataFolder(path: settings.dataFolder).requireWritable()
        }
    }

    private func database() -> [String] {
        // The error of the data folder explains more than errors of the files in it.
        guard dataFolder().isEmpty else {
            return lines { () throws(CommandFailure) in try settings.checkDatabaseLocation() }
        }
        return lines { () throws(CommandFailure) in try settings.checkDatabaseLocation() }
            + lines { () throws(CommandFailure) in
                // A file that cannot be read has been reported by the line above.
                guard case .file(_)? = try? settings.databaseLocation() else { return }
                try DataFolder(path: settings.dataFolder).requireWhole()
                try DataFolder(path: settings.dataFolder).requireDownloadKeys()
            }
    }

    private func bucket() -> [String] {
        settings.bucket.check().map { error in
            switch error {
            case .setting(let key, let rule): line(key, rule)
            case .other(let failure): failure.description
            }
        }
    }

    private func certificates() -> [String] {
        // Files that are missing or do not belong together have been reported with the settings.
        guard !settings.tlsCertificates.isEmpty,
            settings.tlsCertificates.count == settings.tlsKeys.count,
            let configuration = settings.secureTransport
        else { return [] }
        return TLSCheck(configuration).errors.compactMap { subject, error -> String? in
            switch subject {
            case .chain: line("tls.certificates", error.description)
            case .key: line("tls.keys", error.description)
            case .clientBundle:
                configuration.clientBundle.map { _ in line("tls.client_bundle", error.description) }
            }
        }
    }

    private func authorities() -> [String] {
        guard let file = settings.webhooks.authorities else { return [] }
        do throws(TLSConfigurationError) {
            try TLSCheck.checkAuthorities(file)
            return []
        } catch {
            return [line("webhooks.authorities", error.description)]
        }
    }

    private func addresses() -> [String] {
        let addresses =
            settings.http.addresses + settings.tls.addresses + settings.redirectAddresses
            + settings.metricsAddresses + settings.consoleAddresses
        return addresses.compactMap { address in
            do throws(SystemError) {
                try address.check()
                return nil
            } catch {
                return CommandFailure(error, listeningOn: [address]).description
            }
        }
    }

    private func line(_ key: String, _ rule: String) -> String {
        "setting \(reader.error(in: key, rule))"
    }

    private func lines(_ check: () throws(CommandFailure) -> Void) -> [String] {
        do throws(CommandFailure) {
            try check()
            return []
        } catch {
            return [error.description]
        }
    }
}
