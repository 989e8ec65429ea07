public import Messaging

extension MessagingStore {
    /// Changes a user, all of it or nothing; one nobody has named comes into being (platform-api §3.9).
    ///
    /// - Parameter patches: Operations in order; where nothing changes nothing is recorded.
    public func patchUser(
        _ user: UserID, _ patches: [UserPatch], in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let before = try recording.transaction.blocks(
                of: user, among: patches.keepsOtherBlocks ? patches.flatMap(\.named) : nil,
                in: application)
            if let event = patches.changing(blocksOf: user, from: before, at: recording.now) {
                try recording.record(event)
            }
        }
    }
}
