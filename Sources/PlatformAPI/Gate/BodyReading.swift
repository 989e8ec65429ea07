import HTTP
import JSON
import MessagingWire

/// Step 6: the body as JSON (platform-api §1.6).
enum BodyReading {
    /// Larger bodies are refused (platform-api §7).
    static let limit: Int64 = 1 << 20

    /// Refuses a length above the limit before anything is read.
    static func check(_ framing: BodyFraming) throws(APIError) {
        guard case .length(let length) = framing, length > limit else { return }
        throw tooLarge
    }

    /// The one value of the body; an empty body counts as `{}`.
    static func value(of body: any RequestBody) async throws -> JSONValue {
        let bytes = try await body.collect()
        guard bytes.count <= limit else { throw tooLarge }
        do throws(JSONError) {
            return try JSONDocument(bytes.isEmpty ? Array("{}".utf8) : bytes).root
        } catch {
            throw APIError(.invalidRequest, "The body is no valid JSON: \(error).")
        }
    }

    private static var tooLarge: APIError {
        APIError(.invalidRequest, "The body is larger than \(limit) bytes.", status: 413)
    }
}

extension JSONValue {
    /// This value as the object a route takes.
    func asObject() throws(APIError) -> JSONValue {
        guard kind == .object else {
            throw APIError(.invalidRequest, "The body must be a JSON object.")
        }
        return self
    }
}
