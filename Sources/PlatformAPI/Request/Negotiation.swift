package import HTTP
import JSON
import Messaging
import MessagingWire

/// What the headers and the URL of a request determine before its handler runs: the version of the answer, the query,
/// and whether unknown parameters are errors (rulings 21, 31).
package struct Negotiation: Sendable {
    /// The version in which the request is read and answered.
    let version: APIVersion
    /// Whether `Prefer: handling=strict` is in force (RFC 7240 §4.4).
    private let isStrict: Bool
    private let declared: QueryNames?
    private let read: Result<Query, APIError>

    init(_ request: Request, _ endpoint: Endpoint, _ version: APIVersion) {
        self.version = version
        isStrict =
            request.fields.contains("Prefer")
            && PreferHeader(request.fields)["handling"]?.lowercased() == "strict"
        // Almost no request for one object has a query.
        guard request.target.query != nil else {
            declared = nil
            read = .success(.none)
            return
        }
        let declared = endpoint.queryNames
        self.declared = declared
        read = Result { () throws(APIError) in try Query(request.target, declared) }
    }

    /// The declared parameters of the request (platform-api §1.6, step 6).
    ///
    /// - Throws: 400 for a query that cannot be decoded.
    func query() throws(APIError) -> Query { try read.get() }

    /// Rejects unknown query parameters if the client prefers strict handling (platform-api §1.6, step 7).
    ///
    /// - Throws: 422 for the first unknown parameter.
    func requireKnown() throws(APIError) {
        guard isStrict, let name = try query().unknown.first, let declared else { return }
        throw declared.error(unknown: name)
    }

    /// Rejects members of a body that are not in its description if a client of 3.0 prefers strict handling; otherwise
    /// they are ignored.
    ///
    /// - Throws: 422 for the first unknown member, with the nearest known name.
    func requireKnownMembers(of body: JSONValue, of endpoint: Endpoint) throws(APIError) {
        guard isStrict, version == .v3_0,
            // Limits change bounds, not members.
            let schema = endpoint.describe(version, MessagingLimits()).body,
            let unknown = schema.unknownMember(in: body)
        else { return }
        throw APIError(unknown)
    }

    /// Adds the headers that describe what was negotiated.
    ///
    /// - Parameter namesVersion: Whether `Parley-Version` is still missing.
    func noted(on response: Response, namesVersion: Bool = true) -> Response {
        var response = response
        if namesVersion { response.fields.add(Self.versionField, version.rawValue) }
        if isStrict {
            response.fields.add("Preference-Applied", "handling=strict")
        } else if case .success(let query) = read, !query.unknown.isEmpty {
            response.fields.add(Self.ignoredField, Self.list(query.unknown))
        }
        return response
    }

    /// The header that names the version of an answer.
    static let versionField: FieldName = "Parley-Version"
    /// The header that lists the parameters that were ignored.
    package static let ignoredField: FieldName = "Parley-Ignored-Parameters"

    // MARK: - Names in a header

    /// The most names in one header, and the most bytes of one percent-encoded name: proxies refuse answers with long
    /// headers.
    private static let (mostNames, longestName) = (10, 128)

    /// Returns names separated by commas, percent-encoded so that no name can end the header or look like two.
    package static func list(_ names: [String]) -> String {
        names.prefix(mostNames).map(encoded).joined(separator: ", ")
    }

    private static func encoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            let piece = isUnreserved(byte) ? String(UnicodeScalar(byte)) : escaped(byte)
            // The dots show that a name was cut.
            guard text.utf8.count + piece.utf8.count <= longestName else { return "\(text)..." }
            text += piece
        }
        return text
    }

    private static func escaped(_ byte: UInt8) -> String {
        let digits = Array("0123456789ABCDEF")
        return "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }

    /// Whether a byte is unreserved in a URI (RFC 3986 §2.3).
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}
