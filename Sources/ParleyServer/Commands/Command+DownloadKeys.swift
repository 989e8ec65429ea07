import Messaging
import MessagingStore
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
        let keys = try StartFailure.naming(settings.dataFolder) {
            try SigningKeys.rotate(rotation, folder: settings.dataFolder, at: now)
        }
        for key in keys.ids { say("\(key.id)\t\(key.role.rawValue)") }
        return 0
    }
}
