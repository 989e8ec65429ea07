import MessagingStore

extension Call {
    /// `DELETE /exports/{id}` (platform-api §5.12).
    func deleteExport() async throws -> Reply {
        try await store.deleteExport(export(), in: application)
        return .noContent
    }
}
