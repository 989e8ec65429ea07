import FoundationEssentials

/// The unparsed settings from all sources.
public struct SettingsSources: Sendable {
    /// A setting from the command line.
    public struct Flag: Sendable {
        let key: String
        let value: String
        let name: String

        /// Creates a flag from the setting's key, the value, and the option's name as the user
        /// wrote it.
        public init(_ key: String, _ value: String, name: String) {
            self.key = key
            self.value = value
            self.name = name
        }
    }

    /// A settings file.
    struct File: Sendable {
        let path: String
        let bytes: [UInt8]

        /// The line of a byte, counted from one.
        func line(at offset: Int) -> Int {
            1 + bytes.prefix(offset).count { byte in byte == UInt8(ascii: "\n") }
        }
    }

    var file: File?
    /// The file given by name; `nil` if none was.
    var path: String?
    var environment: [String: String]
    var flags: [Flag]

    init(file: File? = nil, environment: [String: String] = [:], flags: [Flag] = []) {
        self.file = file
        self.environment = environment
        self.flags = flags
    }
}

/// The error for a settings file that cannot be read.
public struct UnreadableSettings: Error, CustomStringConvertible {
    fileprivate let path: String

    /// One line for people.
    public var description: String { "the settings file \(path) cannot be read" }
}

extension SettingsSources {
    /// The file that is read if none is given.
    private static let defaultPath = "Config/parley.json"

    /// Collects the settings of this process.
    ///
    /// - Parameter path: The settings file; `nil` reads `Config/parley.json` if it exists.
    public init(file path: String?, flags: [Flag]) throws(UnreadableSettings) {
        self.init(environment: ProcessInfo.processInfo.environment, flags: flags)
        self.path = path
        guard let bytes = FileManager.default.contents(atPath: path ?? Self.defaultPath) else {
            if let path { throw UnreadableSettings(path: path) }
            return
        }
        file = File(path: path ?? Self.defaultPath, bytes: Array(bytes))
    }

    /// Reads the same sources again (H196).
    func reloaded() throws(UnreadableSettings) -> SettingsSources {
        try SettingsSources(file: path, flags: flags)
    }
}
