import FoundationEssentials

/// Reads settings from defaults, file, environment and flags, each over the one before, and notes
/// every mistake instead of stopping at the first.
struct SettingsReader {
    private(set) var settings = Settings()
    private(set) var mistakes: [SettingMistake] = []
    private var origins: [String: SettingOrigin] = [:]

    init(_ sources: SettingsSources) {
        if let file = sources.file { read(file) }
        for setting in Settings.table {
            // Compose files pass variables on as empty when nobody has set them.
            guard let text = sources.environment[setting.environmentName], !text.isEmpty else {
                continue
            }
            take(text, for: setting, from: .environment(setting.environmentName))
        }
        refuseUnknown(sources.environment)
        for flag in sources.flags { read(flag) }
        readSecretFiles()
        for contradiction in Contradiction.all where !contradiction.holds(settings) {
            note(contradiction)
        }
    }

    /// A misspelled variable would otherwise be ignored. Its value is not shown: it may be a secret.
    private mutating func refuseUnknown(_ environment: [String: String]) {
        let known = Settings.table.map(\.environmentName)
        let unknown = environment.filter { name, value in
            name.hasPrefix("PARLEY_") && !value.isEmpty && !known.contains(name)
                && !VariableName.isForeign(name, value)
        }
        for name in unknown.keys.sorted() {
            let nearest = VariableName.nearest(to: name, of: known)
            refuse(
                name, "", "there is no such variable; the nearest is \(nearest)",
                .environment(name))
        }
    }

    /// Reads the secrets whose files are named; `database.url_file` is read when the database is opened.
    private mutating func readSecretFiles() {
        for setting in Settings.table where setting.isReadFromFile {
            let key = "\(setting.key)_file"
            guard let file = Settings.table.first(where: { file in file.key == key }),
                let path = file.read(settings).text
            else { continue }
            let origin = origins[key] ?? .preset
            guard setting.read(settings).text == nil else {
                refuse(key, path, "\(setting.key) and \(key) must not be given together", origin)
                continue
            }
            guard let octets = FileManager.default.contents(atPath: path) else {
                refuse(key, path, "must name a file that can be read", origin)
                continue
            }
            var text = String(decoding: octets, as: UTF8.self)
            // Editors end a file with a line break.
            while text.last?.isWhitespace == true { text.removeLast() }
            guard let value = setting.kind.value(text) else {
                refuse(
                    key, path, "must name a file that holds \(setting.kind.rule) and nothing else",
                    origin)
                continue
            }
            setting.write(&settings, value)
            origins[setting.key] = origin
        }
    }

    private mutating func read(_ flag: SettingsSources.Flag) {
        guard let setting = Settings.table.first(where: { setting in setting.key == flag.key })
        else {
            mistakes.append(
                SettingMistake(
                    key: flag.key, value: flag.value, rule: "there is no such setting",
                    origin: .flag(flag.name)))
            return
        }
        take(flag.value, for: setting, from: .flag(flag.name))
    }

    private mutating func take(_ text: String, for setting: Setting, from origin: SettingOrigin) {
        take(setting.kind.value(text), saying: text, for: setting, from: origin)
    }

    /// Puts a value in its place; `nil` is a value that breaks the rule.
    mutating func take(
        _ value: SettingValue?, saying text: String, for setting: Setting,
        from origin: SettingOrigin
    ) {
        guard let value else {
            refuse(
                setting.key, setting.isSecret ? "[hidden]" : text, "must be \(setting.kind.rule)",
                origin)
            return
        }
        setting.write(&settings, value)
        origins[setting.key] = origin
    }

    mutating func refuse(_ key: String, _ value: String, _ rule: String, _ origin: SettingOrigin) {
        mistakes.append(SettingMistake(key: key, value: value, rule: rule, origin: origin))
    }

    /// Blames the value that somebody chose, not the default it collides with.
    private mutating func note(_ contradiction: Contradiction) {
        let blamed =
            contradiction.keys.first { key in origins[key] != nil } ?? contradiction.keys[0]
        let setting = Settings.table.first { setting in setting.key == blamed }
        let value = setting.map { setting in
            setting.isSecret ? "[hidden]" : setting.shown(in: settings)
        }
        refuse(blamed, value ?? "", contradiction.rule, origins[blamed] ?? .preset)
    }
}
