/// One line of the table of settings: its name, its type and bounds, its place and its purpose.
struct Setting: Sendable {
    /// Where it stands in the file: a name, or a group and a name, such as `http.listen`.
    let key: String
    /// What values it takes.
    let kind: SettingKind
    /// Whether `null` is a value, and then the default.
    let isOptional: Bool
    /// One sentence.
    let help: String
    /// Looks it up.
    let read: @Sendable (Settings) -> SettingValue
    /// Puts a value that the kind has accepted into its place.
    let write: @Sendable (inout Settings, SettingValue) -> Void

    /// `PARLEY_` and the key in capitals, such as `PARLEY_HTTP_LISTEN`.
    var environmentName: String {
        "PARLEY_" + key.uppercased().split(separator: ".").joined(separator: "_")
    }

    /// Its value when nobody says otherwise.
    var defaultValue: SettingValue { read(Settings()) }

    /// Whether a running server takes over a new value (H196); the others hold from the start on.
    var isReloadable: Bool { isOfRunningServer && !Self.fixed.contains(key) }

    /// Of the groups that can be read anew, but made into sockets, loops and doors at the start; the
    /// article Settings marks it.
    var isFixed: Bool { isOfRunningServer && Self.fixed.contains(key) }

    private var isOfRunningServer: Bool {
        ["log.", "api.", "http."].contains { group in key.hasPrefix(group) }
    }

    private static let fixed: Set<String> = [
        "http.listen", "http.loops", "http.backlog", "http.compress_min", "http.max_inflate_ratio",
        "http.cors_origins", "http.cors_max_age", "api.max_participants",
    ]

    /// Whether the setting of the same key with `_file` behind it names a file that holds its value.
    var isReadFromFile: Bool {
        switch kind {
        case .secret, .credential: true
        default: false
        }
    }

    /// Whether its value is never shown.
    var isSecret: Bool {
        switch kind {
        case .secret, .credential, .databaseURL: true
        default: false
        }
    }
}
