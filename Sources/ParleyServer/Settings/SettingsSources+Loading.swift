import FoundationEssentials

/// A settings file that was asked for and cannot be read.
public struct UnreadableSettings: Error, CustomStringConvertible {
    let path: String

    /// One line for a person.
    public var description: String { "the settings file \(path) cannot be read" }
}

extension SettingsSources {
    /// Where settings are looked for when nobody names a file.
    static let usualFile = "Config/parley.json"

    /// Collects what the process was given.
    ///
    /// - Parameter path: The file that was asked for; `nil` takes `Config/parley.json` if it is there.
    public init(file path: String?, flags: [Flag]) throws(UnreadableSettings) {
        self.init(environment: ProcessInfo.processInfo.environment, flags: flags)
        self.path = path
        guard let octets = FileManager.default.contents(atPath: path ?? Self.usualFile) else {
            if let path { throw UnreadableSettings(path: path) }
            return
        }
        file = File(path: path ?? Self.usualFile, octets: Array(octets))
    }

    /// What the same places say now (H196).
    func again() throws(UnreadableSettings) -> SettingsSources {
        try SettingsSources(file: path, flags: flags)
    }
}
