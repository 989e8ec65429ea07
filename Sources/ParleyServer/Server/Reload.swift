import Logging

/// Settings that were read again while the server runs (H196).
struct Reload {
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
