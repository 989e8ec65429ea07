import HTTP
import MessagingWire

extension Endpoint {
    /// The parts of a message (platform-api §5.3); 1.x does not know these paths (§1.3).
    static let parts = [
        Endpoint(
            .get, parts(), "Lists the parts of a message.", isCompressed: true,
            versions: [.v2_0, .v3_0], .head { call in try await call.listParts() }),
        Endpoint(
            .post, parts(), "Adds a part to a message.", versions: [.v2_0, .v3_0],
            .body { call, body in try await call.addPart(body) }),
        Endpoint(
            .put, parts(), "Replaces all parts of a message.", versions: [.v2_0, .v3_0],
            .body { call, body in try await call.replaceParts(body) }),
        Endpoint(
            .get, parts("/{part}"), "Reads a part of a message.", isCompressed: true,
            versions: [.v2_0, .v3_0], .head { call in try await call.readPart() }),
        Endpoint(
            .put, parts("/{part}"), "Replaces a part of a message.", versions: [.v2_0, .v3_0],
            .body { call, body in try await call.replacePart(body) }),
        Endpoint(
            .delete, parts("/{part}"), "Removes a part of a message.", versions: [.v2_0, .v3_0],
            .head { call in try await call.removePart() }),
    ]

    private static func parts(_ end: String = "") -> PathTemplate {
        PathTemplate("/apps/{app}/conversations/{conversation}/messages/{message}/parts\(end)")
    }
}
