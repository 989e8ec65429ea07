/// One thing wrong with the settings.
struct SettingMistake: Hashable, Sendable, CustomStringConvertible {
    let key: String
    /// As it was said; secrets are hidden.
    let value: String
    /// What is wrong, as a sentence without its subject.
    let rule: String
    let origin: SettingOrigin

    /// `http.header_timeout = 0: must be a time such as 20s, from 1ms to 1d (Config/parley.json:12)`
    var description: String {
        "\(key)\(value.isEmpty ? "" : " = \(value)"): \(rule) (\(origin))"
    }
}
