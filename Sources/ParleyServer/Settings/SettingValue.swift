/// The value of a setting, whatever its type.
enum SettingValue: Hashable, Sendable {
    /// `null`: the setting does without a value.
    case none
    /// A text; also choices, addresses and identifiers.
    case text(String)
    case texts([String])
    /// A count, octets, or milliseconds.
    case number(Int64)
    case truth(Bool)

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var texts: [String] { if case .texts(let texts) = self { texts } else { [] } }
    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var isTrue: Bool { self == .truth(true) }
}
