import Bytes
import Console
import Glibc
import HTTP
import HTTPTransport
import Messaging
import MessagingStore

extension Command {
    /// Sets the password of an operator of the console, which is created if it does not exist; its sessions end.
    ///
    /// The password is asked for twice, or is one line of the standard input; an argument would be visible to others.
    ///
    /// - Parameter role: `read`, `write` or `admin`; `nil` leaves it as it is.
    public static func setConsolePassword(
        _ sources: SettingsSources, name: String, role: String?
    ) async throws -> Int32 {
        let name = try operatorName(name)
        let scope = try role.map { text throws(CommandFailure) in
            guard let scope = Token.Scope(rawValue: text) else {
                let names = Token.Scope.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("the role of an operator is one of \(names)")
            }
            return scope
        }
        return try await withStore(sources, making: true) { store in
            let password = try PasswordPrompt.read()
            guard Operator.passwordSize.contains(password.utf8.count) else {
                throw CommandFailure(
                    "a password has \(Operator.passwordSize.lowerBound) to \(Operator.passwordSize.upperBound) bytes"
                )
            }
            let salt = store.randomBytes(PasswordHash.saltSize)
            try await store.setPassword(
                try PasswordHash(of: password, salt: salt).bytes, of: name, role: scope,
                from: .command)
            let role = try await store.operators().first { $0.name == name }?.role
            printLine("\(name)\t\(role?.rawValue ?? "")")
        }
    }

    /// Prints a link that logs in an operator once, within fifteen minutes.
    public static func createConsoleLink(
        _ sources: SettingsSources, name: String
    ) async throws -> Int32 {
        let name = try operatorName(name)
        let settings = try settings(sources)
        return try await withStore(sources, making: true) { store in
            printLine(
                try await ConsoleLink(settings: settings, store: store)
                    .make(for: name, lifetime: ConsoleLink.lifetime))
        }
    }

    /// Prints the operators: name, role, whether there is a password, and creation, separated by tabs.
    public static func listOperators(_ sources: SettingsSources) async throws -> Int32 {
        try await withStore(sources) { store in
            for known in try await store.operators() {
                let state = known.hasPassword ? "password" : "no password"
                printLine(
                    "\(known.name)\t\(known.role.rawValue)\t\(state)\t\(text(known.createdAt))")
            }
        }
    }

    /// Removes an operator, whose sessions end within a second.
    public static func removeOperator(
        _ sources: SettingsSources, name: String
    ) async throws -> Int32 {
        let name = try operatorName(name)
        return try await withStore(sources) { store in
            guard try await store.removeOperator(name, from: .command) else {
                throw CommandFailure("there is no operator \(name)")
            }
            printLine("\(name)\tremoved")
        }
    }

    private static func operatorName(_ text: String) throws(CommandFailure) -> String {
        guard Operator.isName(text) else {
            throw CommandFailure(
                "the name of an operator has 1 to 64 letters, digits and the characters . _ - @")
        }
        return text
    }
}

/// A link to the console that logs in once.
struct ConsoleLink {
    let settings: Settings
    let store: MessagingStore

    /// In milliseconds: fifteen minutes.
    static let lifetime: Int64 = 900_000
    /// That of the link of the first start: an hour.
    static let firstLifetime: Int64 = 3_600_000

    /// Creates a link. Its token is in the fragment, which browsers do not send, so that it is in no log.
    func make(for name: String, lifetime: Int64) async throws -> String {
        let token = try await store.createLink(for: name, lifetime: lifetime, from: .command)
        return "\(base)/console/login#once=\(token)"
    }

    /// Creates the link of the first start; `nil` if there is an operator already, or no console.
    func makeIfFirst() async throws -> String? {
        guard settings.console.isEnabled, try await store.operators().isEmpty else { return nil }
        return try await make(for: Operator.firstName, lifetime: Self.firstLifetime)
    }

    /// The address of the console, or else the public URL, or else an address of this machine, which may log in without TLS.
    private var base: String {
        if let address = settings.consoleAddresses.first(where: Self.isLoopback)
            ?? settings.consoleAddresses.first
        {
            return "http://\(address.reachable)"
        }
        if let publicURL = settings.publicURL { return publicURL }
        let local = settings.http.addresses.first(where: Self.isLoopback)
        return local.map { address in "http://\(address.reachable)" } ?? settings.base
    }

    private static func isLoopback(_ address: ListenAddress) -> Bool {
        switch address.reachable {
        case .ipv4(let bits, _): bits >> 24 == 127
        case .ipv6(let bits, _): bits == .loopback
        case .unix: false
        }
    }
}

/// Reads a password: twice from a terminal, which does not show it, or else one line of the standard input.
enum PasswordPrompt {
    static func read() throws(CommandFailure) -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try line() }
        // The structure lives through the calls.
        var shown = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else {
            throw CommandFailure("the terminal cannot hide the password; pipe it into the command")
        }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            Command.printError("")
        }
        Command.printError("Password: ", end: "")
        let password = try line()
        Command.printError("\nAgain: ", end: "")
        guard try line() == password else { throw CommandFailure("the passwords differ") }
        return password
    }

    private static func line() throws(CommandFailure) -> String {
        guard let line = readLine(strippingNewline: true) else {
            throw CommandFailure("the standard input has no password")
        }
        return line
    }
}
