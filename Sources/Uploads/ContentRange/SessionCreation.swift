internal import HTTP

/// Creation of a session at the creation endpoint, as dialect A asks for it (§5.1).
enum SessionCreation {
    /// Whether a head asks for a session: by query, or by one of the fields that only it has.
    static func isAsked(by request: Request) -> Bool {
        // A query that cannot be read asks for nothing.
        let parameters = (try? request.target.parameters()) ?? []
        return parameters.contains { $0.name == "uploadType" && $0.value == "resumable" }
            || request.fields["X-Goog-Resumable"]?.trimmed.lowercased() == "start"
            || request.fields.contains("X-Upload-Content-Type")
            || request.fields.contains("X-Upload-Content-Length")
    }
}
