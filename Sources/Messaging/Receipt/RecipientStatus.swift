/// What a recipient has made of a message; only ever rises (R70, R72).
public enum RecipientStatus: String, Comparable, CaseIterable, Sendable {
    case sent, delivered, read

    /// The earlier status comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .sent: 0
        case .delivered: 1
        case .read: 2
        }
    }
}
