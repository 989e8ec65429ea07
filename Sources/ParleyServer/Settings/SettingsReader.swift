import FoundationEssentials
import JSON

/// Reads settings from defaults, file, environment and flags, in rising precedence, and collects
/// all errors instead of stopping at the first.
struct SettingsReader {
    private(set) var settings = Settings()
    private(set) var errors: [SettingError] = []
    private var origins: [String: SettingOrigin] = [:]

    init(_ sources: SettingsSources) {
        if let file = sources.file { read(file) }
        for setting in Settings.table {
            // Compose passes unset variables on as empty ones.
            guard let text = sources.environment[setting.environmentName], !text.isEmpty else {
                continue
            }
            take(text, for: setting, from: .environment(setting.environmentName))
        }
        refuseUnknown(sources.environment)
        for flag in sources.flags { read(flag) }
        readSecretFiles()
        for conflict in SettingConflict.all where !conflict.holds(settings) {
            note(conflict)
        }
    }

    /// Rejects unknown variables: a misspelled one would otherwise be ignored. Its value is not
    /// shown, because it may be a secret.
    private mutating func refuseUnknown(_ environment: [String: String]) {
        let known = Settings.table.map(\.environmentName)
        let unknown = environment.filter { name, value in
            name.hasPrefix("PARLEY_") && !value.isEmpty && !known.contains(name)
                && !VariableName.isUnrelated(name, value)
        }
        for name in unknown.keys.sorted() {
            let rule = "there is no such variable" + Self.hint(name, known)
            refuse(name, "", rule, .environment(name))
        }
    }

    /// Reads the secrets from their files; `database.url_file` is read when the database is opened.
    private mutating func readSecretFiles() {
        for setting in Settings.table where setting.isReadFromFile {
            let key = "\(setting.key)_file"
            guard let file = Settings.table.first(where: { file in file.key == key }),
                let path = file.read(settings).text
            else { continue }
            let origin = origins[key] ?? .defaultValue
            guard setting.read(settings).text == nil else {
                refuse(key, path, "\(setting.key) and \(key) must not be given together", origin)
                continue
            }
            guard let bytes = FileManager.default.contents(atPath: path) else {
                refuse(key, path, "must name a file that can be read", origin)
                continue
            }
            var text = String(decoding: bytes, as: UTF8.self)
            // Editors end a file with a line break.
            while text.last?.isWhitespace == true { text.removeLast() }
            guard let value = setting.kind.value(text) else {
                refuse(
                    key, path,
                    "must name a file that contains \(setting.kind.rule) and nothing else",
                    origin)
                continue
            }
            setting.write(&settings, value)
            origins[setting.key] = origin
        }
    }

    private mutating func read(_ flag: SettingsSources.Flag) {
        let origin = SettingOrigin.flag(flag.name)
        guard let setting = Settings.table.first(where: { setting in setting.key == flag.key })
        else { return refuseUnknown(flag.key, flag.value, origin) }
        take(flag.value, for: setting, from: origin)
    }

    /// Rejects a setting that does not exist, and names the nearest one.
    private mutating func refuseUnknown(_ key: String, _ value: String, _ origin: SettingOrigin) {
        let known = Settings.table.map(\.key)
        if let first = firstSetting(inGroup: key) {
            return refuse(key, value, "is a group of settings, such as \(first)", origin)
        }
        let groups =
            key.contains(".")
            ? []
            : known.compactMap { name in
                name.split(separator: ".").dropLast().first.map(String.init)
            }
        refuse(key, value, "there is no such setting" + Self.hint(key, known + groups), origin)
    }

    private static func hint(_ name: String, _ known: [String]) -> String {
        NearestName(to: name, of: known).map { near in "; the nearest is \(near.name)" } ?? ""
    }

    private mutating func take(_ text: String, for setting: Setting, from origin: SettingOrigin) {
        take(setting.kind.value(text), saying: text, for: setting, from: origin)
    }

    /// Stores a value; `nil` is reported as an invalid one.
    private mutating func take(
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

    private mutating func refuse(
        _ key: String, _ value: String, _ rule: String, _ origin: SettingOrigin
    ) {
        errors.append(SettingError(key: key, value: value, rule: rule, origin: origin))
    }

    /// Reports the setting that was set, not the default it conflicts with.
    private mutating func note(_ conflict: SettingConflict) {
        let reportedSetting =
            conflict.keys.first { key in origins[key] != nil } ?? conflict.keys[0]
        errors.append(error(in: reportedSetting, conflict.rule))
    }

    /// Where the value of a setting comes from.
    func origin(of key: String) -> SettingOrigin { origins[key] ?? .defaultValue }

    /// An error in the value that a setting has.
    func error(in key: String, _ rule: String) -> SettingError {
        let setting = Settings.table.first { setting in setting.key == key }
        let value = setting.map { setting in
            setting.isSecret ? "[hidden]" : setting.shown(in: settings)
        }
        return SettingError(
            key: key, value: value ?? "", rule: rule, origin: origins[key] ?? .defaultValue)
    }

    /// Reads a file of one or two levels: `{"public_url": …, "http": {"listen": …}}`.
    private mutating func read(_ file: SettingsSources.File) {
        let document: JSONDocument
        do {
            document = try JSONDocument(file.bytes)
        } catch {
            let origin = SettingOrigin.file(file.path, line: file.line(at: error.offset))
            return refuse("file", "", "is not JSON: \(error.reason)", origin)
        }
        guard document.root.kind == .object else {
            return refuse("file", "", "must be an object", .file(file.path, line: 1))
        }
        for (name, value) in document.root.members {
            if value.kind == .object, value.count > 0 || firstSetting(inGroup: name) != nil {
                for (inner, value) in value.members { read("\(name).\(inner)", value, in: file) }
            } else {
                read(name, value, in: file)
            }
        }
    }

    /// The key of the first setting of a group, such as `http`; `nil` if there is no such group.
    private func firstSetting(inGroup name: String) -> String? {
        Settings.table.first { setting in setting.key.hasPrefix("\(name).") }?.key
    }

    private mutating func read(_ key: String, _ value: JSONValue, in file: SettingsSources.File) {
        let origin = SettingOrigin.file(file.path, line: file.line(at: value.offset))
        guard let setting = Settings.table.first(where: { setting in setting.key == key }) else {
            return refuseUnknown(key, "", origin)
        }
        take(setting.value(value), saying: value.description, for: setting, from: origin)
    }
}

extension Setting {
    /// The value of a JSON value; `nil` if it breaks the rule.
    fileprivate func value(_ json: JSONValue) -> SettingValue? {
        switch json.kind {
        case .null: isOptional ? SettingValue.none : nil
        case .object: nil
        case .array:
            json.elements.contains { element in element.kind != .string }
                ? nil : kind.value(list: json.elements.compactMap(\.string))
        case .string: kind.isWrittenBare ? nil : json.string.flatMap(kind.value)
        case .number: kind.isQuantity ? kind.value(json.description) : nil
        case .bool: kind.isWrittenBare && !kind.isQuantity ? kind.value(json.description) : nil
        }
    }
}

extension SettingKind {
    /// Whether the file has it as a number or boolean, never in quotes.
    fileprivate var isWrittenBare: Bool {
        switch self {
        case .count, .boolean: true
        default: false
        }
    }

    fileprivate var isQuantity: Bool {
        switch self {
        case .count, .bytes, .time: true
        default: false
        }
    }
}

/// An error in the settings.
struct SettingError: Hashable, Sendable, CustomStringConvertible {
    let key: String
    /// The given value; secrets are hidden.
    let value: String
    /// What is wrong, as a sentence without its subject.
    let rule: String
    let origin: SettingOrigin

    /// `http.header_timeout = 0: must be a time such as 20s, from 1ms to 1d (Config/parley.json:12)`
    var description: String {
        "\(key)\(value.isEmpty ? "" : " = \(value)"): \(rule) (\(origin))"
    }
}

/// Where a value comes from.
enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case defaultValue
    case file(String, line: Int)
    case environment(String)
    case flag(String)

    var description: String {
        switch self {
        case .defaultValue: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag \(name)"
        }
    }
}

/// Checks the names of environment variables that begin with `PARLEY_`.
enum VariableName {
    /// Whether a variable does not belong to the settings: a test's, or one that Kubernetes sets
    /// for a service whose name begins with `parley`.
    static func isUnrelated(_ name: String, _ value: String) -> Bool {
        name.hasPrefix("PARLEY_TEST_") || name == "PARLEY_PORT"
            || name.hasPrefix("PARLEY_SERVICE_") || name.contains("_PORT_")
            || name.contains("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
            || name.hasSuffix("_PORT") && value.contains("://")
    }
}
