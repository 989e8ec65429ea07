/// A version of the Platform API (platform-api §1.2).
///
/// All versions speak about the same stored objects; they differ in shape only (platform-api §1.3).
public enum APIVersion: String, CaseIterable, Comparable, Sendable {
    case v1_0 = "1.0"
    case v1_1 = "1.1"
    case v2_0 = "2.0"
    case v3_0 = "3.0"

    /// The earlier release comes first.
    public static func < (one: APIVersion, other: APIVersion) -> Bool {
        one.rank < other.rank
    }

    /// Users are shown as identity objects and named by identity ids, from 2.0 on.
    public var namesIdentities: Bool { self >= .v2_0 }

    private var rank: Int {
        switch self {
        case .v1_0: 10
        case .v1_1: 11
        case .v2_0: 20
        case .v3_0: 30
        }
    }
}
