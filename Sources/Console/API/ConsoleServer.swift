public import Messaging

/// What the console shows of the server that it is a part of.
public struct ConsoleServer: Sendable {
    /// A setting as the console shows it.
    public struct Setting: Sendable {
        /// The name.
        public let name: String
        /// The value as text; empty for none. Never shown for a secret.
        public let value: String
        /// The default as text; empty for none.
        public let defaultValue: String
        /// Whether only its presence is shown.
        public let isSecret: Bool
        /// `default`, `file`, `environment` or `flag`.
        public let source: String
        /// The file and line, the variable or the flag; `nil` for a default.
        public let place: String?
        /// Whether a change applies from the next start on.
        public let needsRestart: Bool
        /// The value that applies from the next start on; `nil` if that is the present one.
        public let pending: String?

        /// All members.
        public init(
            name: String, value: String, defaultValue: String, isSecret: Bool, source: String,
            place: String?, needsRestart: Bool, pending: String?
        ) {
            self.name = name
            self.value = value
            self.defaultValue = defaultValue
            self.isSecret = isSecret
            self.source = source
            self.place = place
            self.needsRestart = needsRestart
            self.pending = pending
        }
    }

    /// The name of the program.
    public let name: String
    /// Its version.
    public let version: String
    /// When this process started.
    public let startedAt: Timestamp
    /// The samples of its counters.
    public let statistics: Statistics
    /// The base of the URLs of the API where the console has addresses of its own; `nil` where it shares those of the API.
    public let apiBase: String?
    /// Returns all settings.
    public let settings: @Sendable () -> [Setting]

    /// All members.
    public init(
        name: String, version: String, startedAt: Timestamp, statistics: Statistics,
        apiBase: String?, settings: @escaping @Sendable () -> [Setting]
    ) {
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.statistics = statistics
        self.apiBase = apiBase
        self.settings = settings
    }
}
