import Messaging
import SQL

/// The users that the new conversations of a commit connect.
final class SharedConversations {
    private let isKept: Bool
    /// For each group, the position of the first event that connects it.
    private var groups: [[UserID]: LogPosition] = [:]
    /// The participants of the first conversation of new users, which their rows count already.
    private var counted: [UserID: Set<UserID>] = [:]

    init(isKept: Bool) { self.isKept = isKept }

    func add(_ participants: [UserID], _ new: Set<UserID>, at position: LogPosition) {
        if groups[participants] == nil { groups[participants] = position }
        guard !new.isEmpty else { return }
        let participants = Set(participants)
        for user in new { counted[user] = participants }
    }

    /// Counts the new pairs, and inserts or updates those that do not follow each other independently of conversations.
    func statements(in application: Application.ID) -> [SQL] {
        let pairs = pairs
        let uncounted = pairs.filter { pair in
            counted[pair.follower]?.contains(pair.followed) != true
        }
        return uncounted.powerOfTwoChunks(upTo: Self.atOnce).map { chunk in
            counting(chunk, in: application)
        }
            + pairs.powerOfTwoChunks(upTo: Self.atOnce).map { chunk in
                inserting(chunk, in: application)
            }
    }

    /// The most pairs in a statement.
    private static let atOnce = 256

    private struct Pair: Hashable {
        let follower: UserID
        let followed: UserID
        /// The position of the event since which the one follows the other.
        let event: LogPosition

        static func == (left: Pair, right: Pair) -> Bool {
            left.follower == right.follower && left.followed == right.followed
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(follower)
            hasher.combine(followed)
        }
    }

    /// Each pair once, by the first event that connects it.
    private var pairs: [Pair] {
        var pairs: [Pair] = []
        var known: Set<Pair> = []
        for (users, event) in groups.sorted(by: { left, right in left.value < right.value }) {
            for follower in users {
                for followed in users where followed != follower {
                    let pair = Pair(follower: follower, followed: followed, event: event)
                    if groups.count == 1 || known.insert(pair).inserted { pairs.append(pair) }
                }
            }
        }
        return pairs
    }

    private func counting(_ pairs: [Pair], in application: Application.ID) -> SQL {
        """
        UPDATE identities SET following_count = following_count + new.pairs
        FROM (
            SELECT column1 AS follower, COUNT(*) AS pairs
            FROM \(table: "pairs", of: columns(of: pairs))
            WHERE \(count(in: application, where: "TRUE")) = 0
            GROUP BY column1
        ) AS new
        WHERE application = \(application) AND user_id = new.follower
        """
    }

    private func inserting(_ pairs: [Pair], in application: Application.ID) -> SQL {
        """
        INSERT INTO following (application, follower, followed, is_kept, event)
        SELECT \(application), column1, column2, \(isKept), column3
        FROM \(table: "pairs", of: columns(of: pairs) + [.integers(pairs.map(\.event.number))])
        WHERE \(count(in: application, where: "f.is_kept >= \(isKept)")) = 0
        ON CONFLICT (application, follower, followed) DO UPDATE SET is_kept = excluded.is_kept
        """
    }

    private func columns(of pairs: [Pair]) -> [SQLArray] {
        [.texts(pairs.map(\.follower.text)), .texts(pairs.map(\.followed.text))]
    }

    /// The number of rows of a pair, 0 or 1: rows that exist cost a lookup and no write.
    private func count(in application: Application.ID, where condition: SQL) -> SQL {
        // Not NOT EXISTS, which could be planned as a join that reads all followed users.
        """
        (
            SELECT COUNT(*) FROM following f
            WHERE f.application = \(application) AND f.follower = column1
                AND f.followed = column2 AND \(condition)
        )
        """
    }
}
