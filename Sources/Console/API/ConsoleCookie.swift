import HTTP

/// The cookie of a session of the console.
///
/// The ports of a host share cookies, so its name holds the id of the database. Over https its prefix keeps other hosts of
/// the domain from setting it; over http it has none, because browsers refuse that.
struct ConsoleCookie: Sendable {
    private let name: String
    private let attributes: String

    /// - Parameters:
    ///   - instance: The id of the database.
    ///   - scheme: The scheme that the client uses.
    init(instance: String, scheme: Scheme) {
        let base = "parley-console-\(instance.prefix(8))"
        switch scheme {
        case .https: (name, attributes) = ("__Host-\(base)", "Path=/; Secure")
        case .http: (name, attributes) = (base, "Path=/console")
        }
    }

    /// The value in a request; `nil` for none, and for several, of which another site may have set one.
    func value(in fields: Fields) -> String? {
        var found: [Substring] = []
        for line in fields.values("Cookie") {
            for pair in line.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                guard let sign = pair.firstIndex(of: "="),
                    pair[..<sign].utf8.elementsEqual(name.utf8)
                else { continue }
                found.append(pair[pair.index(after: sign)...])
            }
        }
        guard found.count == 1, let value = found.first, value.utf8.count <= 64 else { return nil }
        return String(value)
    }

    /// The value of `Set-Cookie`.
    ///
    /// - Parameter lifetime: In seconds; 0 deletes the cookie.
    func setting(_ value: String, lifetime: Int64) -> String {
        "\(name)=\(value); \(attributes); Max-Age=\(lifetime); HttpOnly; SameSite=Strict"
    }
}
