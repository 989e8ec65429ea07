import FoundationEssentials

/// All that was said about settings, before anything of it is understood.
public struct SettingsSources: Sendable {
    /// A value from the command line.
    public struct Flag: Sendable {
        let key: String
        let value: String
        let name: String

        /// Names the setting's key, the value, and the flag as the person wrote it.
        public init(_ key: String, _ value: String, name: String) {
            self.key = key
            self.value = value
            self.name = name
        }
    }

    /// A file and what it holds.
    struct File: Sendable {
        let path: String
        let bytes: [UInt8]

        /// The line of a byte, counted from one.
        func line(at offset: Int) -> Int {
            1 + bytes.prefix(offset).count { byte in byte == UInt8(ascii: "\n") }
        }
    }

    var file: File?
    /// The file that was asked for by name.
    var path: String?
    var environment: [String: String]
    var flags: [Flag]

    init(file: File? = nil, environment: [String: String] = [:], flags: [Flag] = []) {
        self.file = file
        self.environment = environment
        self.flags = flags
    }
}

/// A settings file that was asked for and cannot be read.
public struct UnreadableSettings: Error, CustomStringConvertible {
    let path: String

    /// One line for a person.
    public var description: String { "the settings file \(path) cannot be read" }
}

extension SettingsSources {
    /// Where settings are looked for when nobody names a file.
    static let defaultPath = "Config/parley.json"

    /// Collects what the process was given.
    ///
    /// - Parameter path: The file that was asked for; `nil` takes `Config/parley.json` if it is there.
    public init(file path: String?, flags: [Flag]) throws(UnreadableSettings) {
        self.init(environment: ProcessInfo.processInfo.environment, flags: flags)
        self.path = path
        guard let bytes = FileManager.default.contents(atPath: path ?? Self.defaultPath) else {
            if let path { throw UnreadableSettings(path: path) }
            return
        }
        file = File(path: path ?? Self.defaultPath, bytes: Array(bytes))
    }

    /// What the same places say now (H196).
    func again() throws(UnreadableSettings) -> SettingsSources {
        try SettingsSources(file: path, flags: flags)
    }
}
