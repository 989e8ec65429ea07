import JSON

extension Setting {
    /// The value of this setting as a person writes it; empty for none.
    func shown(in settings: Settings) -> String {
        switch read(settings) {
        case .none: ""
        case .text(let text): text
        case .texts(let texts): texts.joined(separator: ",")
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): kind.text(number)
        }
    }

    /// The default as the file has it.
    func writeDefault(to writer: inout JSONWriter) {
        switch defaultValue {
        case .none: writer.null()
        case .text(let text): writer.string(text)
        case .texts(let texts):
            writer.array { writer in texts.forEach { text in writer.string(text) } }
        case .truth(let truth): writer.bool(truth)
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
        case .octets: Quantity.octets.text(number)
        case .time: Quantity.time.text(number)
        default: "\(number)"
        }
    }
}
