import HTTP
import HTTPTransport

/// The type and bounds of a setting.
enum SettingKind: Sendable {
    case text
    /// Texts without commas; separated by commas in the environment and in flags.
    case texts
    /// Hosts without a port.
    case hosts
    /// Origins as browsers send them; see ``HTTP/CORSPolicy``.
    case origins
    case addresses
    /// Address blocks.
    case blocks
    case url
    case uuid
    case secret
    /// A credential of another service; never shown.
    case credential
    /// The URL of a PostgreSQL server, with its secrets.
    case databaseURL
    case choice([String])
    case boolean
    case count(ClosedRange<Int64>)
    case bytes(ClosedRange<Int64>)
    /// In milliseconds.
    case time(ClosedRange<Int64>)
    /// A list of times in milliseconds.
    case times(ClosedRange<Int64>)

    /// The rule for values, as the end of a sentence that begins with "must be".
    var rule: String {
        switch self {
        case .text: "a text that is not empty"
        case .texts: "a list of texts"
        case .hosts: "hosts such as chat.example.com or [::1], without scheme and port"
        case .origins:
            "origins such as https://chat.example.com, in lower case and without a path, or *"
        case .addresses: "addresses such as 127.0.0.1:8080, [::]:8080 or unix:/run/parley.sock"
        case .blocks: "addresses or blocks such as 10.0.0.0/8, 2001:db8::1 or unix"
        case .url:
            "an absolute http or https URL of a host and perhaps a port, without query and fragment"
        case .uuid: "a UUID"
        case .secret: "16 to 255 visible ASCII characters"
        case .credential: "1 to 4096 visible ASCII characters"
        case .databaseURL:
            "a URL such as postgres://parley@db.internal/parley, where @ and / of a password are %40 and %2F"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        case .boolean: "true or false"
        case .count(let bounds): "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
        case .bytes(let bounds):
            "a size such as 8KiB, from \(Quantity.bytes.text(bounds.lowerBound)) to \(Quantity.bytes.text(bounds.upperBound))"
        case .time(let bounds):
            "a time such as 20s, from \(Quantity.time.text(bounds.lowerBound)) to \(Quantity.time.text(bounds.upperBound))"
        case .times(let bounds):
            "times such as 5s, from \(Quantity.time.text(bounds.lowerBound)) to \(Quantity.time.text(bounds.upperBound))"
        }
    }

    /// The value of a text; `nil` if it breaks the rule.
    func value(_ text: String) -> SettingValue? {
        switch self {
        case .text: text.isEmpty ? nil : .text(text)
        case .texts, .hosts, .origins, .addresses, .blocks, .times:
            value(list: text.split(separator: ",").map(Self.trimmed))
        case .url: Self.url(text).map(SettingValue.text)
        case .uuid: Self.uuid(text).map(SettingValue.text)
        case .secret: Self.isVisible(text, 16...255) ? .text(text) : nil
        case .credential: Self.isVisible(text, 1...4096) ? .text(text) : nil
        case .databaseURL: Self.isDatabaseURL(text) ? .text(text) : nil
        case .choice(let names): names.contains(text) ? .text(text) : nil
        case .boolean: ["true": .boolean(true), "false": .boolean(false)][text]
        case .count(let bounds): Quantity.count.value(text).flatMap { Self.number($0, in: bounds) }
        case .bytes(let bounds):
            Quantity.bytes.value(text).flatMap { Self.number($0, in: bounds) }
        case .time(let bounds): Quantity.time.value(text).flatMap { Self.number($0, in: bounds) }
        }
    }

    /// The value of a list; `nil` if it breaks the rule or the setting is no list.
    func value(list: [String]) -> SettingValue? {
        switch self {
        case .texts: list.contains("") ? nil : .texts(list)
        case .hosts: list.contains { text in HostText(text) == nil } ? nil : .texts(list)
        case .origins: list.allSatisfy(CORSPolicy.isOrigin) ? .texts(list) : nil
        case .addresses:
            list.isEmpty || list.contains { text in ListenAddress(text) == nil }
                ? nil : .texts(list)
        case .times(let bounds):
            list.allSatisfy { text in Quantity.time.value(text).map(bounds.contains) == true }
                ? .texts(list) : nil
        case .blocks:
            list.contains { text in AddressBlock(text) == nil } ? nil : .texts(list)
        default: nil
        }
    }

    private static func number(_ number: Int64, in bounds: ClosedRange<Int64>) -> SettingValue? {
        bounds.contains(number) ? .number(number) : nil
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop { character in character == " " }
        return String(start.reversed().drop { character in character == " " }.reversed())
    }

    /// Removes trailing slashes, because paths are appended.
    private static func url(_ text: String) -> String? {
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else { return nil }
        guard text.utf8.allSatisfy({ byte in (0x21...0x7E).contains(byte) }) else { return nil }
        guard !text.contains(where: { character in "?#\"<>\\^`{|}@".contains(character) }) else {
            return nil
        }
        var base = text[...]
        while base.hasSuffix("/") { base = base.dropLast() }
        let rest = base.drop { character in character != "/" }.dropFirst(2)
        return isAuthority(rest.prefix { character in character != "/" }) ? String(base) : nil
    }

    /// Whether a text is a host, and perhaps a port.
    private static func isAuthority(_ text: Substring) -> Bool {
        // A colon inside brackets belongs to an IPv6 address.
        let bracket = text.first == "[" ? text.firstIndex(of: "]") : text.startIndex
        let colon = bracket.flatMap { start in text[start...].firstIndex(of: ":") }
        guard HostText(text[..<(colon ?? text.endIndex)]) != nil else { return false }
        guard let colon else { return true }
        let port = Quantity.count.value(String(text[text.index(after: colon)...]))
        return port.map { port in (1...65_535).contains(port) } == true
    }

    private static func uuid(_ text: String) -> String? {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard groups.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
        let isHex = text.allSatisfy { character in character == "-" || character.isHexDigit }
        return isHex && text.utf8.count == 36 ? text.lowercased() : nil
    }

    /// libpq validates the rest. It would read an `@` or `/` in a password as the start of the
    /// host, and show it in error messages.
    private static func isDatabaseURL(_ text: String) -> Bool {
        let schemes = ["postgres://", "postgresql://"]
        guard let scheme = schemes.first(where: text.hasPrefix),
            text.utf8.allSatisfy({ byte in (0x21...0x7E).contains(byte) })
        else { return false }
        let pieces = text.dropFirst(scheme.count).split(
            separator: "@", omittingEmptySubsequences: false)
        return pieces.count == 1 || pieces.count == 2 && !pieces[0].contains("/")
    }

    private static func isVisible(_ text: String, _ length: ClosedRange<Int>) -> Bool {
        length.contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in (0x21...0x7E).contains(byte) }
    }
}

/// Numbers with units, as in `8KiB` and `20s`.
struct Quantity: Sendable {
    /// The units from smallest to largest; values are stored in the first.
    private let units: [(name: String, size: Int64)]
    /// The size of a number without unit.
    private let bare: Int64

    fileprivate static let count = Quantity(units: [("", 1)], bare: 1)
    static let bytes = Quantity(
        units: [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)],
        bare: 1)
    /// In milliseconds; a number without unit means seconds.
    static let time = Quantity(
        units: [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)],
        bare: 1000)

    /// Reads digits and a unit; `nil` for any other text and beyond 64 bits.
    func value(_ text: String) -> Int64? {
        let digits = text.prefix { character in character.isASCII && character.isNumber }
        let name = text[digits.endIndex...]
        guard let number = Int64(digits) else { return nil }
        let size = name.isEmpty ? bare : units.first { unit in unit.name == name }?.size
        guard let size else { return nil }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: size)
        return isTooLarge ? nil : product
    }

    /// Formats a number with the largest unit that needs no fraction.
    func text(_ number: Int64) -> String {
        let unit = units.last { unit in number % unit.size == 0 && number >= unit.size }
        return "\(number / (unit?.size ?? 1))\(unit?.name ?? units[0].name)"
    }
}
