public import HTTP
public import MessagingStore

/// Settings of the operator console.
public struct ConsoleSettings: Sendable {
    /// Whether the console and its API are served.
    public var isEnabled = true
    /// Whether a login may arrive without TLS from another machine.
    public var allowsHTTP = false
    /// The addresses that may use the API of the console; empty for all.
    public var allowedNetworks: [AddressBlock] = []
    /// How long a session lasts from its login, in milliseconds.
    public var sessionLifetime: Int64 = 12 * 3_600_000
    /// How long a session lasts from its last use, in milliseconds.
    public var idleLifetime: Int64 = 2 * 3_600_000
    /// Whether the console shows the contents of messages.
    public var showsContent = true
    /// The folder for the backups that the console makes; `nil` for none.
    public var backupFolder: String?

    /// The default settings.
    public init() {}

    /// Both lifetimes.
    public var lifetimes: ConsoleLifetimes {
        ConsoleLifetimes(session: sessionLifetime, idle: idleLifetime)
    }
}
