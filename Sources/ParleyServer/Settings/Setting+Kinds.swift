import HTTP
import HTTPTransport

/// A place in the settings that may be handed between threads, as all literal key paths may.
typealias Place<Value> = any WritableKeyPath<Settings, Value> & Sendable

// One way to declare a setting per type of its place.
extension Setting {
    static func text(_ key: String, _ place: Place<String>, _ help: String) -> Setting {
        Setting(key: key, kind: .text, isOptional: false, help: help) { settings in
            .text(settings[keyPath: place])
        } write: { settings, value in
            settings[keyPath: place] = value.text ?? settings[keyPath: place]
        }
    }

    static func texts(_ key: String, _ place: Place<[String]>, _ help: String) -> Setting {
        Setting(key: key, kind: .texts, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: place])
        } write: { settings, value in
            settings[keyPath: place] = value.texts
        }
    }

    static func origins(_ key: String, _ place: Place<[String]>, _ help: String) -> Setting {
        Setting(key: key, kind: .origins, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: place])
        } write: { settings, value in
            settings[keyPath: place] = value.texts
        }
    }

    static func url(_ key: String, _ place: Place<String?>, _ help: String) -> Setting {
        optional(key, .url, place, help)
    }

    static func uuid(_ key: String, _ place: Place<String?>, _ help: String) -> Setting {
        optional(key, .uuid, place, help)
    }

    static func secret(_ key: String, _ place: Place<String?>, _ help: String) -> Setting {
        optional(key, .secret, place, help)
    }

    static func credential(_ key: String, _ place: Place<String?>, _ help: String) -> Setting {
        optional(key, .credential, place, help)
    }

    static func databaseURL(
        _ key: String, _ place: Place<String?>, _ help: String
    ) -> Setting {
        optional(key, .databaseURL, place, help)
    }

    private static func optional(
        _ key: String, _ kind: SettingKind, _ place: Place<String?>, _ help: String
    ) -> Setting {
        Setting(key: key, kind: kind, isOptional: true, help: help) { settings in
            settings[keyPath: place].map(SettingValue.text) ?? .none
        } write: { settings, value in
            settings[keyPath: place] = value.text
        }
    }

    static func number<Number: FixedWidthInteger & Sendable>(
        _ key: String, _ place: Place<Number>, _ kind: SettingKind, _ help: String
    ) -> Setting {
        Setting(key: key, kind: kind, isOptional: false, help: help) { settings in
            .number(Int64(settings[keyPath: place]))
        } write: { settings, value in
            // The bounds of the table lie inside those of the type.
            settings[keyPath: place] =
                value.number.map(Number.init(clamping:)) ?? settings[keyPath: place]
        }
    }

    static func number<Number: FixedWidthInteger & Sendable>(
        _ key: String, _ place: Place<Number?>, _ kind: SettingKind, _ help: String
    ) -> Setting {
        Setting(key: key, kind: kind, isOptional: true, help: help) { settings in
            settings[keyPath: place].map { number in .number(Int64(number)) } ?? .none
        } write: { settings, value in
            settings[keyPath: place] = value.number.map(Number.init(clamping:))
        }
    }

    static func truth(_ key: String, _ place: Place<Bool>, _ help: String) -> Setting {
        Setting(key: key, kind: .truth, isOptional: false, help: help) { settings in
            .truth(settings[keyPath: place])
        } write: { settings, value in
            settings[keyPath: place] = value.isTrue
        }
    }

    static func blocks(_ key: String, _ place: Place<[AddressBlock]>, _ help: String) -> Setting {
        Setting(key: key, kind: .blocks, isOptional: false, help: help) { settings in
            .texts(settings[keyPath: place].map(\.description))
        } write: { settings, value in
            settings[keyPath: place] = value.texts.compactMap { text in AddressBlock(text) }
        }
    }

    /// A list of times in milliseconds.
    static func times(
        _ key: String, _ place: Place<[Int64]>, _ bounds: ClosedRange<Int64>, _ help: String
    ) -> Setting {
        Setting(key: key, kind: .times(bounds), isOptional: false, help: help) { settings in
            .texts(settings[keyPath: place].map(Quantity.time.text))
        } write: { settings, value in
            settings[keyPath: place] = value.texts.compactMap(Quantity.time.value)
        }
    }

    /// One of an enumeration's values, by name.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ place: Place<Choice>, _ help: String
    ) -> Setting {
        let names = Choice.allCases.map(\.rawValue)
        return Setting(key: key, kind: .choice(names), isOptional: false, help: help) { settings in
            .text(settings[keyPath: place].rawValue)
        } write: { settings, value in
            settings[keyPath: place] =
                value.text.flatMap(Choice.init(rawValue:)) ?? settings[keyPath: place]
        }
    }

    static func file(_ key: String, _ place: Place<String?>, _ help: String) -> Setting {
        optional(key, .text, place, help)
    }

    static func addresses(
        _ key: String, _ place: Place<[ListenAddress]>, isOptional: Bool = false, _ help: String
    ) -> Setting {
        Setting(key: key, kind: .addresses, isOptional: isOptional, help: help) { settings in
            let addresses = settings[keyPath: place].map(\.description)
            return isOptional && addresses.isEmpty ? .none : .texts(addresses)
        } write: { settings, value in
            settings[keyPath: place] = value.texts.compactMap { text in ListenAddress(text) }
        }
    }
}
