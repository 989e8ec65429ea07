import Bytes
import HTTP
import JSON
import Messaging
import MessagingWire
import SystemSupport

/// Serves the OpenAPI documents; no credential is needed (X11).
///
/// A document is created for its first request and cached, also compressed: the start of the server does not wait for
/// it, and requests without a credential cost little.
final class APIDescription: Sendable {
    private let publicBase: PublicBaseURL
    private let limits: MessagingLimits
    private let documents = Locked<[Name: Document]>([:])

    /// The interface and the version that a document describes.
    private struct Name: Hashable {
        let isOfClients: Bool
        let version: APIVersion
    }

    private struct Document {
        let tag: EntityTag
        let bytes: [UInt8]
        /// The compressed bytes by the name of the content coding.
        var coded: [String: [UInt8]] = [:]
    }

    init(_ publicBase: PublicBaseURL, _ limits: MessagingLimits) {
        self.publicBase = publicBase
        self.limits = limits
    }

    /// Returns the document of the interface in `?api=`, by default the Platform API, and of the version in `?version=`,
    /// by default the latest one.
    func response(to request: Request) async -> Response {
        do throws(APIError) {
            let query = try Query(request.target, Self.parameters)
            guard let version = query["version"].map(APIVersion.init(rawValue:)) ?? .v3_0 else {
                throw APIError(
                    .invalidProperty, "`version` must be one of \(Self.versions).",
                    data: .property("version"))
            }
            guard let api = Self.interfaces.first(where: { $0 == query["api"] ?? "platform" })
            else {
                throw APIError(
                    .invalidProperty, "`api` must be `platform` or `client`.",
                    data: .property("api"))
            }
            let name = Name(isOfClients: api == "client", version: version)
            return await response(to: request, document(name), name)
        } catch {
            return error.response(publicBase: publicBase.of(request))
        }
    }

    private static let interfaces = ["platform", "client"]

    private static let parameters = QueryNames([
        Parameter("api", .choice(interfaces), "The API to describe."),
        Parameter(
            "version", .choice(APIVersion.allCases.map(\.rawValue)), "The version to describe."),
    ])

    private static var versions: String {
        APIVersion.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private func response(
        to request: Request, _ document: Document, _ name: Name
    ) async -> Response {
        let coding = ContentCoding.preferred(by: request.fields)
        let tag = coding.map { coding in document.tag.coded(coding.name) } ?? document.tag
        var fields = ResponseFields()
        fields.add("ETag", tag.text)
        fields.add("Vary", "Accept-Encoding")
        // A client may store the document but must revalidate it: another release has another document.
        fields.add("Cache-Control", "no-cache")
        let known = Preconditions(tag: tag, modified: nil)
        guard known.evaluate(request.method, request.fields, at: 0) != .notModified else {
            return Response(.notModified, fields: fields)
        }
        fields.add("Content-Type", "application/json; charset=UTF-8")
        guard let coding else {
            return Response(.ok, fields: fields, content: .bytes(document.bytes))
        }
        fields.add("Content-Encoding", coding.name)
        let bytes = await bytes(of: document, name, request.fields, coding)
        return Response(.ok, fields: fields, content: .bytes(bytes))
    }

    /// Returns a document, from the cache or new. It is created outside the lock: a concurrent request
    /// may create an equal one.
    private func document(_ name: Name) -> Document {
        if let known = documents.withLock({ $0[name] }) { return known }
        // A server with several hosts gets a URL relative to that of the document.
        let base = publicBase.followsProxies ? "/" : publicBase.text
        let bytes = OpenAPIDocument(
            version: name.version, isOfClients: name.isOfClients, publicBase: base, limits: limits
        ).json()
        var sum = CRC32C()
        sum.update(bytes.span)
        let tag = EntityTag(opaque: "\(String(sum.value, radix: 16))-\(bytes.count)")
        let created = Document(tag: tag, bytes: bytes)
        documents.withLock { $0[name] = created }
        return created
    }

    private func bytes(
        of document: Document, _ name: Name, _ fields: Fields, _ coding: ContentCoding
    ) async -> [UInt8] {
        if let known = document.coded[coding.name] { return known }
        let plain = Response(.ok, "application/json", document.bytes)
        guard case .bytes(let coded) = await plain.compressed(for: fields).content else {
            return document.bytes
        }
        documents.withLock { $0[name]?.coded[coding.name] = coded }
        return coded
    }
}
