import Console
import SystemSupport

/// The settings of a running server with their origins, for the console.
final class ShownSettings: Sendable {
    private struct State {
        /// The values in force.
        var settings: Settings
        /// What was read last; `nil` until then.
        var reader: SettingsReader?
    }

    private let state: Locked<State>

    /// - Parameter settings: The values in force.
    init(_ settings: Settings) { state = Locked(State(settings: settings)) }

    /// Notes what was read.
    ///
    /// - Parameter settings: The values in force.
    func note(_ reader: SettingsReader, running settings: Settings) {
        state.withLock { state in state = State(settings: settings, reader: reader) }
    }

    /// All settings.
    var all: [ConsoleServer.Setting] {
        let (running, reader) = state.withLock { state in (state.settings, state.reader) }
        return Settings.table.map { setting in
            let origin = reader?.origin(of: setting.key) ?? .defaultValue
            let value = setting.shown(in: running)
            let read = reader.map { reader in setting.shown(in: reader.settings) } ?? value
            return ConsoleServer.Setting(
                name: setting.key, value: value, defaultValue: setting.shown(in: Settings()),
                isSecret: setting.isSecret, source: origin.kind, place: origin.place,
                needsRestart: !setting.isReloadable, pending: read == value ? nil : read)
        }
    }
}

extension SettingOrigin {
    /// The kind of source.
    fileprivate var kind: String {
        switch self {
        case .defaultValue: "default"
        case .file: "file"
        case .environment: "environment"
        case .flag: "flag"
        }
    }

    /// The place in the source; `nil` for a default.
    fileprivate var place: String? {
        switch self {
        case .defaultValue: nil
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name), .flag(let name): name
        }
    }
}
