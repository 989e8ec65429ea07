import JSON

extension SettingsReader {
    /// Reads a file of one or two levels: `{"public_url": …, "http": {"listen": …}}`.
    mutating func read(_ file: SettingsSources.File) {
        let document: JSONDocument
        do {
            document = try JSONDocument(file.octets)
        } catch {
            let origin = SettingOrigin.file(file.path, line: file.line(at: error.offset))
            return refuse("file", "", "is not JSON: \(error.reason)", origin)
        }
        guard document.root.kind == .object else {
            return refuse("file", "", "must be an object", .file(file.path, line: 1))
        }
        for (name, value) in document.root.members {
            if value.kind == .object {
                for (inner, value) in value.members { read("\(name).\(inner)", value, in: file) }
            } else {
                read(name, value, in: file)
            }
        }
    }

    private mutating func read(_ key: String, _ value: JSONValue, in file: SettingsSources.File) {
        let origin = SettingOrigin.file(file.path, line: file.line(at: value.offset))
        guard let setting = Settings.table.first(where: { setting in setting.key == key }) else {
            return refuse(key, "", "there is no such setting", origin)
        }
        take(setting.value(value), saying: value.description, for: setting, from: origin)
    }
}

extension Setting {
    /// The value a JSON value stands for; `nil` when it breaks the rule.
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
    /// Whether the file has it as a number or a truth value, never in quotes.
    fileprivate var isWrittenBare: Bool {
        switch self {
        case .count, .truth: true
        default: false
        }
    }

    fileprivate var isQuantity: Bool {
        switch self {
        case .count, .octets, .time: true
        default: false
        }
    }
}
