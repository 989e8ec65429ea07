/// A version of the Platform API and the Client API (platform-api §1.2, client-api §1).
///
/// All versions use the same stored objects and differ only in their JSON (platform-api §1.3).
public enum APIVersion: String, CaseIterable, Comparable, Sendable {
    case v1_0 = "1.0"
    case v1_1 = "1.1"
    case v2_0 = "2.0"
    case v3_0 = "3.0"

    /// The earlier release comes first.
    public static func < (one: APIVersion, other: APIVersion) -> Bool {
        one.rank < other.rank
    }

    /// Whether users are shown as identity objects and named by identity ids: from 2.0 on.
    public var namesIdentities: Bool { self >= .v2_0 }

    private var rank: Int {
        switch self {
        case .v1_0: 10
        case .v1_1: 11
        case .v2_0: 20
        case .v3_0: 30
        }
    }
}

/// The interfaces of the server, each with its media type and credential (platform-api §1.2, webhooks §1, client-api §1).
public enum APIFamily: Sendable {
    /// The Client API: what the user of a session sees and changes.
    case client
    /// Conversations, messages, users and their events.
    case platform
    /// Webhooks and their deliveries.
    case webhooks

    /// The media type of `Accept`.
    public var mediaType: String {
        switch self {
        case .client, .platform: "application/vnd.layer+json"
        case .webhooks: "application/vnd.layer.webhooks+json"
        }
    }

    /// The versions it has.
    public var versions: Set<APIVersion> {
        switch self {
        case .client, .platform: Set(APIVersion.allCases)
        case .webhooks: [.v1_0, .v2_0, .v3_0]
        }
    }
}

extension APIVersion {
    /// Chooses the version of the response (platform-api §1.2, ruling 31).
    ///
    /// The first range that names the family's media type with a version of the family decides; `version=3` means the
    /// newest 3.x. Without such a range, the newest version is used if the header is missing or empty, or has the range
    /// `*/*`, `application/*` or `application/json`. Types are compared without regard to case, white space may
    /// surround `;` and `=`, the number may be quoted, and a range with `q=0` is ignored.
    ///
    /// - Parameters:
    ///   - accept: The value of the header, several lines joined by commas; `nil` if it is missing.
    ///   - family: The requested interface.
    ///   - isStrict: Whether only the family's media type with a version is accepted (`api.strict_accept`).
    /// - Returns: `nil` if the header accepts nothing that this interface produces: 406.
    public init?(accept: String?, of family: APIFamily = .platform, isStrict: Bool = false) {
        // A fast path for the form that the documentation shows and nearly all clients send.
        for (text, version) in Self.documented where family != .webhooks && text == accept {
            self = version
            return
        }
        let ranges = AcceptRange.all(in: accept ?? "")
        for range in ranges where range.isType(family.mediaType) {
            guard let version = range["version"].flatMap({ text in family.version(named: text) })
            else { continue }
            self = version
            return
        }
        guard !isStrict, let newest = family.versions.max() else { return nil }
        guard AcceptRange.isEmpty(accept ?? "") || ranges.contains(where: \.coversJSON) else {
            return nil
        }
        self = newest
    }

    private static let documented = allCases.map { version in
        ("\(APIFamily.platform.mediaType); version=\(version.rawValue)", version)
    }
}

extension APIFamily {
    /// Returns a version by its number, or the newest of a major number: `3` is 3.0, `1` is 1.1 (ruling 31).
    fileprivate func version(named text: String) -> APIVersion? {
        // Compared as bytes: Swift's `==` also accepts text that is only canonically equivalent.
        versions.filter { version in
            let number = version.rawValue.utf8
            return number.elementsEqual(text.utf8)
                || number.prefix { $0 != UInt8(ascii: ".") }.elementsEqual(text.utf8)
        }.max()
    }
}

/// One media range of an `Accept` header (RFC 9110 §12.5.1).
public struct AcceptRange {
    private let type: Substring.UTF8View
    private let parameters: [(name: Substring.UTF8View, value: Substring.UTF8View)]

    /// Returns the ranges of a header in order, without those that `q=0` excludes.
    ///
    /// - Parameter accept: The value of the header; parts that cannot be read are ignored.
    public static func all(in accept: String) -> [AcceptRange] {
        elements(accept).map(AcceptRange.init).filter { range in !range.isExcluded }
    }

    /// Whether a header has no range, which means that everything is accepted.
    static func isEmpty(_ accept: String) -> Bool { elements(accept).isEmpty }

    private static func elements(_ accept: String) -> [Substring.UTF8View] {
        accept.utf8.splitOutsideQuotes(at: UInt8(ascii: ",")).map(\.trimmed)
            .filter { element in !element.isEmpty }
    }

    private init(_ element: Substring.UTF8View) {
        var pieces = element.splitOutsideQuotes(at: UInt8(ascii: ";"))[...]
        type = pieces.popFirst()?.trimmed ?? element
        parameters = pieces.compactMap { piece in
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (
                piece[..<equals].trimmed, piece[piece.index(after: equals)...].trimmed.unquoted
            )
        }
    }

    /// Whether it names exactly this type, which is given in lower case.
    public func isType(_ name: String) -> Bool { type.equals(name) }

    /// The value of a parameter by its lower-case name; the first of duplicates.
    subscript(name: String) -> String? {
        parameters.first { parameter in parameter.name.equals(name) }
            .map { parameter in String(Substring(parameter.value)) }
    }

    /// Whether it accepts `application/json`, whatever its parameters.
    fileprivate var coversJSON: Bool {
        ["application/json", "application/*", "*/*"].contains(where: isType)
    }

    /// Whether its weight is 0: `0`, `0.`, `0.0` and so on.
    private var isExcluded: Bool {
        guard let weight = self["q"]?.utf8, weight.first == UInt8(ascii: "0") else { return false }
        let rest = weight.dropFirst()
        return rest.isEmpty
            || rest.first == UInt8(ascii: ".")
                && rest.dropFirst().allSatisfy { digit in digit == UInt8(ascii: "0") }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Substring.UTF8View {
    fileprivate func splitOutsideQuotes(at separator: UInt8) -> [Substring.UTF8View] {
        var isQuoted = false
        return split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }
    }
}

extension Substring.UTF8View {
    fileprivate var trimmed: Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let head = drop(while: isBlank)
        guard let last = head.lastIndex(where: { !isBlank($0) }) else { return head }
        return head[...last]
    }

    fileprivate var unquoted: Substring.UTF8View {
        guard count >= 2, first == UInt8(ascii: "\""), last == UInt8(ascii: "\"") else {
            return self
        }
        return dropFirst().dropLast()
    }

    /// Whether this equals a lower-case text, where ASCII letters match in either case.
    fileprivate func equals(_ text: String) -> Bool {
        elementsEqual(text.utf8) { byte, expected in
            (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == expected
        }
    }
}
