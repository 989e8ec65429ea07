import HTTP
import MessagingStore
import MessagingWire

extension RequestContext {
    /// The answer to a read, or 304 for who knows that version already (X4).
    ///
    /// A bare UUID in `If-None-Match` is no tag and therefore no condition (platform-api §1.9).
    func reading(_ version: Int64, _ reply: () throws -> Reply) rethrows -> Reply {
        guard request.fields.contains("If-None-Match") else {
            return try reply().tagged(version)
        }
        let verdict = Preconditions(tag: .version(version), modified: nil)
            .evaluate(.get, request.fields, at: 0)
        return try (verdict == .notModified ? Reply(.notModified) : reply()).tagged(version)
    }

    /// Runs a change under what `If-Match` demands, and shows who was late what is there (X4).
    ///
    /// - Parameters:
    ///   - show: The object of the 412 as JSON.
    ///   - change: The whole of the handler, since a field nobody can read is reported before
    ///     anything of the body (platform-api §1.6, step 6).
    func demanding<Object: Sendable, Value>(
        _ show: (Object) throws -> [UInt8], change: (VersionPrecondition) async throws -> Value
    ) async throws -> Value {
        let demand = try demand()
        do {
            return try await change(demand)
        } catch let mismatch as VersionMismatch<Object> {
            throw APIError(
                .versionMismatch, "The object has changed meanwhile.",
                data: .object(try show(mismatch.current)))
        }
    }

    /// `If-None-Match` is left out: on a change it is never a condition (platform-api §1.9).
    private func demand() throws(APIError) -> VersionPrecondition {
        guard let text = request.fields.joined("If-Match") else { return .any }
        guard Preconditions.isReadable(text) else {
            throw APIError(
                .invalidRequest, "The If-Match header must be * or a list of entity tags.")
        }
        let fields = Fields([("If-Match", text)])
        return VersionPrecondition { version in
            Preconditions(tag: .version(version), modified: nil)
                .evaluate(.patch, fields, at: 0) == .proceed
        }
    }
}

extension Reply {
    /// The same with the version of the object (X4).
    func tagged(_ version: Int64) -> Reply {
        adding("ETag", EntityTag.version(version).text)
    }
}

extension EntityTag {
    /// The tag of an object's version.
    fileprivate static func version(_ version: Int64) -> EntityTag {
        EntityTag(opaque: "v\(version)")
    }
}

extension RequestContext {
    /// The answer to a `PATCH`: empty, or the object for who prefers that (X5, RFC 7240 §4.2).
    func patched(_ json: () -> [UInt8]) -> Reply {
        guard PreferHeader(request.fields)["return"] == "representation" else { return .noContent }
        return Reply(.ok, json()).adding("Preference-Applied", "return=representation")
    }
}
