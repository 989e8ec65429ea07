import HTTP
import MessagingWire

extension Endpoint {
    /// The application itself (platform-api §5.11).
    static let applications = [
        Endpoint(
            .patch, "/apps/{app}", "Sets how long new sessions live.",
            .body { call, body in try await call.patchApplication(body) }
        ) { _ in
            Operation(
                "patchApplication", body: ApplicationPatchJSON.schema, answers: [.accepted()],
                example: Example(
                    body: """
                        [{"operation":"set","property":"session_ttl_in_seconds","value":3600}]
                        """))
        }
    ]
}
