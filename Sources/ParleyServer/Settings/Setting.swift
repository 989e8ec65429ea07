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

    /// Whether its value is never shown.
    var isSecret: Bool { if case .secret = kind { true } else { false } }
}
