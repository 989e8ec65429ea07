import Messaging
import SQL

extension Recording {
    /// A user brings nobody together with himself whom he blocks (R31); himself he may (R30).
    ///
    /// - Throws: `Rejection.participantBlocked`.
    func refuseBlocked(_ users: [UserID], by user: UserID) throws {
        let others = users.filter { other in other != user }
        guard try transaction.blocks(of: user, among: others, in: application).isEmpty else {
            throw Rejection.participantBlocked
        }
    }
}
