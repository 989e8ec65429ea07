import Logging
import Uploads

extension Running {
    /// Reads the keys of download URLs again because a signal says so, rotated or not (H196).
    func reloadDownloadKeys() {
        let logger = log.logger("parley.downloads")
        do {
            let folder = settings.dataFolder
            parts.downloads.adopt(
                try StartFailure.naming(folder) { try SigningKeys.load(folder: folder) })
            logger.notice("download keys reloaded")
        } catch {
            // The keys that were read before go on to sign.
            logger.error("download keys not reloaded", metadata: ["cause": "\(error)"])
        }
    }
}
