import FoundationEssentials
import ObjectStore
import TestSupport

@testable import Uploads

extension ContentBucket {
    /// A part of the tests' bucket that nobody else uses.
    ///
    /// - Parameters:
    ///   - fault: What is to go wrong, as `objectstore.py` has it.
    ///   - redirects: Whether downloads are sent to the store.
    ///   - registry: Keeps records for several rooms.
    static func scratch(
        _ fault: String? = nil, redirects: Bool = false, registry: RememberingRegistry? = nil
    ) -> ContentBucket {
        guard let server = ObjectServer.shared else { preconditionFailure("no object store") }
        var settings = ObjectStoreSettings(
            endpoint: server.endpoint, region: ObjectServer.region, bucket: ObjectServer.bucket,
            prefix: ObjectServer.newPrefix() + (fault.map { fault in "\(fault)/" } ?? ""),
            credentials: Credentials(
                accessKey: ObjectServer.owner.key, secretKey: ObjectServer.owner.secret))
        settings.attempts = 2
        settings.firstWait = 1
        let clock = ObjectStoreClock(now: { Int64(Date().timeIntervalSince1970 * 1000) })
        do {
            return ContentBucket(
                try ObjectStore(settings, clock: clock), redirects: redirects,
                registry: registry, onFault: { error in print("the store: \(error)") })
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
