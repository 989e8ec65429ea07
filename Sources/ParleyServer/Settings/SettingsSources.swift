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
        let octets: [UInt8]

        /// The line of an octet, counted from one.
        func line(at offset: Int) -> Int {
            1 + octets.prefix(offset).count { octet in octet == UInt8(ascii: "\n") }
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
