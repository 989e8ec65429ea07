public import Messaging

extension MessagingStore {
    /// Changes a user, all of it or nothing; one nobody has named comes into being (platform-api §3.9).
    ///
    /// - Parameter patches: Operations in order; where nothing changes nothing is recorded.
    /// - Throws: `Rejection.invalid("blocks")` for a block list that becomes too long.
    public func patchUser(
        _ user: UserID, _ patches: [UserPatch], in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let (transaction, now) = (recording.transaction, recording.now)
            let isSuspended = try transaction.user(user, in: application)?.isSuspended ?? false
            let blocks = try transaction.blocks(
                of: user, among: patches.keepsOtherBlocks ? patches.flatMap(\.named) : nil,
                in: application)
            let events = [
                patches.changing(suspensionOf: user, from: isSuspended, at: now),
                try patches.changing(
                    blocksOf: user, from: blocks,
                    of: try transaction.blockCount(of: user, in: application), at: now),
            ]
            for event in events.compactMap(\.self) { try recording.record(event) }
        }
    }
}
