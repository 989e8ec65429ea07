import Logging
import Uploads

extension Running {
    /// Goes on to read what others write: keys of download URLs, and credentials of the bucket.
    func followOthers() -> Task<Void, Never> {
        let parts = parts
        let (downloads, bucket) = (log.logger("parley.downloads"), log.logger("parley.bucket"))
        return Task {
            async let keys: Void = parts.downloadKeys.follow(parts.downloads) { error in
                downloads.error("download keys not reloaded", metadata: ["cause": "\(error)"])
            }
            await parts.credentials?.follow { error in
                bucket.error("credentials not reloaded", metadata: ["cause": "\(error)"])
            }
            await keys
        }
    }

    /// Reads the keys of download URLs again because a signal says so, rotated or not (H196).
    func reloadDownloadKeys() async {
        let logger = log.logger("parley.downloads")
        do {
            parts.downloads.adopt(try await parts.downloadKeys.load())
            logger.notice("download keys reloaded")
        } catch {
            // The keys that were read before go on to sign.
            logger.error("download keys not reloaded", metadata: ["cause": "\(error)"])
        }
    }
}
