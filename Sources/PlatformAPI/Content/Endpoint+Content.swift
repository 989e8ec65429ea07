import HTTP

extension Endpoint {
    /// Rich content (platform-api §5.4).
    static let content = [
        Endpoint(
            .post, "/apps/{app}/conversations/{conversation}/content",
            "Announces content and says where to upload it.",
            .head { call in try await call.createContent() }),
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/content/{content}",
            "Gives content a fresh download URL.",
            .head { call in try await call.readContent() }),
    ]
}
