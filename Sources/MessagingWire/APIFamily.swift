/// The interfaces below the path of an application, each with a media type of its own (platform-api §1.2,
/// webhooks §1).
public enum APIFamily: Sendable {
    /// What is said, and by whom.
    case platform
    /// Who is told of it.
    case webhooks

    /// What `Accept` names.
    public var mediaType: String {
        switch self {
        case .platform: "application/vnd.layer+json"
        case .webhooks: "application/vnd.layer.webhooks+json"
        }
    }

    /// The versions it has.
    public var versions: Set<APIVersion> {
        switch self {
        case .platform: Set(APIVersion.allCases)
        case .webhooks: [.v1_0, .v2_0, .v3_0]
        }
    }
}
