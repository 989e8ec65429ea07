import HTTP
import HTTPTransport
import JSON

/// The declaration of a setting: its name, type, bounds, property and description.
struct Setting: Sendable {
    /// The name in the settings file: a name, or a group and a name, such as `http.listen`.
    let key: String
    /// The type and bounds of its values.
    let kind: SettingKind
    /// Whether `null` is allowed; it is the default then.
    let isOptional: Bool
    /// The description: one sentence.
    let help: String
    /// Reads the value from the settings.
    let read: @Sendable (Settings) -> SettingValue
    /// Stores a value that `kind` has accepted.
    let write: @Sendable (inout Settings, SettingValue) -> Void

    /// The environment variable, such as `PARLEY_HTTP_LISTEN`.
    var environmentName: String {
        "PARLEY_" + key.uppercased().split(separator: ".").joined(separator: "_")
    }

    /// The default value.
    var defaultValue: SettingValue { read(Settings()) }

    /// Whether a running server applies a new value (H196); others apply from the next start on.
    var isReloadable: Bool { isOfRunningServer && !Self.fixed.contains(key) }

    /// Whether the setting needs a restart although its group can be reloaded; the article Settings
    /// marks it.
    var isFixed: Bool { isOfRunningServer && Self.fixed.contains(key) }

    private var isOfRunningServer: Bool {
        ["log.", "api.", "http."].contains { group in key.hasPrefix(group) }
    }

    private static let fixed: Set<String> = [
        "http.listen", "http.loops", "http.backlog", "http.compress_min", "http.max_inflate_ratio",
        "http.cors_origins", "http.cors_max_age", "api.max_participants",
        "api.wide_conversation",
    ]

    /// Whether the setting `<key>_file` names a file with its value.
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

/// The value of a setting of any type.
enum SettingValue: Hashable, Sendable {
    /// `null`: no value.
    case none
    /// A text; also a choice, an address or an identifier.
    case text(String)
    case texts([String])
    /// A count, a number of bytes, or milliseconds.
    case number(Int64)
    case boolean(Bool)

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var texts: [String] { if case .texts(let texts) = self { texts } else { [] } }
    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var isTrue: Bool { self == .boolean(true) }
}

extension Setting {
    /// The value as text; empty for none.
    func shown(in settings: Settings) -> String {
        switch read(settings) {
        case .none: ""
        case .text(let text): text
        case .texts(let texts): texts.joined(separator: ",")
        case .boolean(let isTrue): isTrue ? "true" : "false"
        case .number(let number): kind.text(number)
        }
    }

    /// Writes the default as JSON, for the settings file.
    func writeDefault(to writer: inout JSONWriter) {
        switch defaultValue {
        case .none: writer.null()
        case .text(let text): writer.string(text)
        case .texts(let texts):
            writer.array { writer in texts.forEach { text in writer.string(text) } }
        case .boolean(let isTrue): writer.bool(isTrue)
        case .number(let number):
            if case .count = kind {
                writer.integer(number)
            } else {
                writer.string(kind.text(number))
            }
        }
    }
}

extension SettingKind {
    fileprivate func text(_ number: Int64) -> String {
        switch self {
        case .bytes: Quantity.bytes.text(number)
        case .time: Quantity.time.text(number)
        default: "\(number)"
        }
    }
}

/// A key path of a setting's property; literal key paths are Sendable.
typealias SettingPath<Value> = any WritableKeyPath<Settings, Value> & Sendable

// One function to declare a setting for each type of property.
extension Setting {
    static func text(_ key: String, _ path: SettingPath<String>, _ help: String) -> Setting {
        Setting(key: key, kind: .text, isOptional: false, help: help) { settings in
            .text(settings[keyPath: path])
        } write: { settings, value in
            settings[keyPath: path] = value.text ?? settings[keyPath: path]
        }
    }

    static func texts(_ key: String, _ path: SettingPath<[String]>, _ help: String) -> Setting {
        Setting(key: key, kind: .texts, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: path])
        } write: { settings, value in
            settings[keyPath: path] = value.texts
        }
    }

    static func hosts(_ key: String, _ path: SettingPath<[String]>, _ help: String) -> Setting {
        Setting(key: key, kind: .hosts, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: path])
        } write: { settings, value in
            settings[keyPath: path] = value.texts
        }
    }

    static func origins(_ key: String, _ path: SettingPath<[String]>, _ help: String) -> Setting {
        Setting(key: key, kind: .origins, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: path])
        } write: { settings, value in
            settings[keyPath: path] = value.texts
        }
    }

    static func url(_ key: String, _ path: SettingPath<String?>, _ help: String) -> Setting {
        optional(key, .url, path, help)
    }

    static func uuid(_ key: String, _ path: SettingPath<String?>, _ help: String) -> Setting {
        optional(key, .uuid, path, help)
    }

    static func secret(_ key: String, _ path: SettingPath<String?>, _ help: String) -> Setting {
        optional(key, .secret, path, help)
    }

    static func credential(_ key: String, _ path: SettingPath<String?>, _ help: String) -> Setting {
        optional(key, .credential, path, help)
    }

    static func databaseURL(
        _ key: String, _ path: SettingPath<String?>, _ help: String
    ) -> Setting {
        optional(key, .databaseURL, path, help)
    }

    private static func optional(
        _ key: String, _ kind: SettingKind, _ path: SettingPath<String?>, _ help: String
    ) -> Setting {
        Setting(key: key, kind: kind, isOptional: true, help: help) { settings in
            settings[keyPath: path].map(SettingValue.text) ?? .none
        } write: { settings, value in
            settings[keyPath: path] = value.text
        }
    }

    static func number<Number: FixedWidthInteger & Sendable>(
        _ key: String, _ path: SettingPath<Number>, _ kind: SettingKind, _ help: String
    ) -> Setting {
        Setting(key: key, kind: kind, isOptional: false, help: help) { settings in
            .number(Int64(settings[keyPath: path]))
        } write: { settings, value in
            // The bounds in the table are within the type's.
            settings[keyPath: path] =
                value.number.map(Number.init(clamping:)) ?? settings[keyPath: path]
        }
    }

    static func number<Number: FixedWidthInteger & Sendable>(
        _ key: String, _ path: SettingPath<Number?>, _ kind: SettingKind, _ help: String
    ) -> Setting {
        Setting(key: key, kind: kind, isOptional: true, help: help) { settings in
            settings[keyPath: path].map { number in .number(Int64(number)) } ?? .none
        } write: { settings, value in
            settings[keyPath: path] = value.number.map(Number.init(clamping:))
        }
    }

    static func boolean(_ key: String, _ path: SettingPath<Bool>, _ help: String) -> Setting {
        Setting(key: key, kind: .boolean, isOptional: false, help: help) { settings in
            .boolean(settings[keyPath: path])
        } write: { settings, value in
            settings[keyPath: path] = value.isTrue
        }
    }

    static func blocks(_ key: String, _ path: SettingPath<[AddressBlock]>, _ help: String)
        -> Setting
    {
        Setting(key: key, kind: .blocks, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: path].map(\.description))
        } write: { settings, value in
            settings[keyPath: path] = value.texts.compactMap { text in AddressBlock(text) }
        }
    }

    /// A list of times in milliseconds.
    static func times(
        _ key: String, _ path: SettingPath<[Int64]>, _ bounds: ClosedRange<Int64>, _ help: String
    ) -> Setting {
        Setting(key: key, kind: .times(bounds), isOptional: false, help: help) { settings in
            .texts(settings[keyPath: path].map(Quantity.time.text))
        } write: { settings, value in
            settings[keyPath: path] = value.texts.compactMap(Quantity.time.value)
        }
    }

    /// One case of an enumeration, by name.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: SettingPath<Choice>, _ help: String
    ) -> Setting {
        let names = Choice.allCases.map(\.rawValue)
        return Setting(key: key, kind: .choice(names), isOptional: false, help: help) { settings in
            .text(settings[keyPath: path].rawValue)
        } write: { settings, value in
            settings[keyPath: path] =
                value.text.flatMap(Choice.init(rawValue:)) ?? settings[keyPath: path]
        }
    }

    static func file(_ key: String, _ path: SettingPath<String?>, _ help: String) -> Setting {
        optional(key, .text, path, help)
    }

    static func addresses(
        _ key: String, _ path: SettingPath<[ListenAddress]>, isOptional: Bool = false,
        _ help: String
    ) -> Setting {
        Setting(key: key, kind: .addresses, isOptional: isOptional, help: help) { settings in
            let addresses = settings[keyPath: path].map(\.description)
            return isOptional && addresses.isEmpty ? .none : .texts(addresses)
        } write: { settings, value in
            settings[keyPath: path] = value.texts.compactMap { text in ListenAddress(text) }
        }
    }
}
