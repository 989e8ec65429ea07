import Messaging
import MessagingStore
import SQL
import Uploads

extension Command {
    /// Has the next key sign download URLs; a running server follows when it reads its settings again.
    ///
    /// - Parameter forgets: Whether URLs signed so far open nothing any more; otherwise they live as
    ///   long as they say.
    public static func rotateDownloadKey(
        _ sources: SettingsSources, forgets: Bool
    ) async throws -> Int32 {
        let settings = try settings(sources)
        let now = StoreEnvironment.live.now().milliseconds
        let rotation =
            forgets
            ? SigningKeys.Rotation.forgetting
            : .keeping(until: now + settings.uploads.longestURLLife)
        let folder = settings.dataFolder
        switch try settings.databaseLocation() {
        case .file, .temporary:
            tell(
                try StartFailure.naming(folder) {
                    try SigningKeys.rotate(rotation, folder: folder, at: now)
                })
            return 0
        case .server:
            return try await withStore(sources) { store in
                tell(
                    try await DownloadKeys(store: store, folder: folder).rotate(rotation, at: now))
            }
        }
    }

    private static func tell(_ keys: SigningKeys) {
        for key in keys.ids { say("\(key.id)\t\(key.role.rawValue)") }
    }
}
