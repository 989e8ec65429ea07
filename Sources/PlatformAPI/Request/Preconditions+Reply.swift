import Bytes
import HTTP
import MessagingStore
import MessagingWire

extension RequestContext {
    /// Returns the answer to a read, or 304 if `If-None-Match` names the version (X4).
    ///
    /// A UUID without quotes in `If-None-Match` is not an entity tag and is ignored (platform-api §1.9).
    func conditionalReply(_ version: Int64, _ reply: () throws -> Reply) rethrows -> Reply {
        guard request.fields.contains("If-None-Match") else {
            return try reply().addingETag(version)
        }
        let outcome = Preconditions(tag: .version(version), modified: nil)
            .evaluate(.get, request.fields, at: 0)
        return try (outcome == .notModified ? Reply(.notModified) : reply()).addingETag(version)
    }

    /// Returns the answer to a read of what a user sees, with a weak tag of its bytes, or 304 if `If-None-Match` names the
    /// tag (ruling 43).
    ///
    /// It is no version: messages and receipts change a view and raise none (ruling 14).
    func viewReply(_ json: [UInt8]) -> Reply {
        let digest = Array(SHA256.digest(of: json).prefix(12))
        let tag = EntityTag(opaque: Base64.encodeForURL(digest), isWeak: true)
        let isKnown =
            request.fields.contains("If-None-Match")
            && Preconditions(tag: tag, modified: nil).evaluate(.get, request.fields, at: 0)
                == .notModified
        return (isKnown ? Reply(.notModified) : Reply(.ok, json)).adding("ETag", tag.text)
    }

    /// Runs a change under the condition in `If-Match`; when it fails, throws 412 with the current object (X4).
    ///
    /// - Parameters:
    ///   - show: Returns the JSON of the current object for the 412.
    ///   - change: The whole handler, since a malformed header is reported before errors of the body (platform-api
    ///     §1.6, step 6).
    func withPrecondition<Object: Sendable, Value>(
        _ show: (Object) throws -> [UInt8], change: (VersionPrecondition) async throws -> Value
    ) async throws -> Value {
        let precondition = try readPrecondition()
        do {
            return try await change(precondition)
        } catch let mismatch as VersionMismatch<Object> {
            throw APIError(
                .versionMismatch, "The object has changed meanwhile.",
                data: .object(try show(mismatch.current)))
        }
    }

    /// Reads `If-Match`. `If-None-Match` is never a condition of a change (platform-api §1.9).
    private func readPrecondition() throws(APIError) -> VersionPrecondition {
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
    /// Returns this reply with the object's version as `ETag` (X4).
    func addingETag(_ version: Int64) -> Reply {
        adding("ETag", EntityTag.version(version).text)
    }
}

extension EntityTag {
    /// The entity tag of an object's version.
    fileprivate static func version(_ version: Int64) -> EntityTag {
        EntityTag(opaque: "v\(version)")
    }
}

extension RequestContext {
    /// Returns the answer to a `PATCH`: empty, or the object with `Prefer: return=representation` (X5, RFC 7240 §4.2).
    func patchReply(_ json: () -> [UInt8]) -> Reply {
        guard PreferHeader(request.fields)["return"] == "representation" else { return .noContent }
        return Reply(.ok, json()).adding("Preference-Applied", "return=representation")
    }
}
