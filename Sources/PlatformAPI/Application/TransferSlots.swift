import Blobs
package import Messaging
package import MessagingWire
import SystemSupport
import Uploads

/// Limits the exports or imports that run at a time: one per application, and a few in all, because each uses a
/// database connection or the memory of a line.
package final class TransferSlots: Sendable {
    private let taken = Locked<Set<Application.ID>>([])
    private let maximum: Int

    /// - Parameter maximum: The most slots in use at a time, of all applications together.
    init(atMost maximum: Int) { self.maximum = maximum }

    /// A slot in use; it is freed when the last reference is released.
    package final class Slot: Sendable {
        private let slots: TransferSlots
        private let application: Application.ID

        fileprivate init(_ slots: TransferSlots, _ application: Application.ID) {
            self.slots = slots
            self.application = application
        }

        deinit { _ = slots.taken.withLock { taken in taken.remove(application) } }
    }

    /// Takes a slot.
    ///
    /// - Parameter work: The subject of the error message, such as "An export of this application".
    /// - Throws: 409 while the application uses one, 503 while none is free.
    package func slot(for application: Application.ID, _ work: String) throws(APIError) -> Slot {
        try taken.withLock { taken throws(APIError) in
            guard !taken.contains(application) else {
                throw APIError(.requestInProgress, "\(work) is in progress.")
            }
            guard taken.count < maximum else {
                throw APIError(
                    .serviceUnavailable,
                    "The server already runs the maximum number of them; retry later.")
            }
            taken.insert(application)
        }
        return Slot(self, application)
    }
}

extension PlatformAPI {
    /// Runs work that writes to the disk.
    ///
    /// - Throws: 507 when the disk is full, or another `APIError` for what the uploads refuse.
    package func withDiskSpace<Value: Sendable>(
        _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch UploadError.insufficientStorage {
            throw APIError.noDiskSpace
        } catch let error as DiskError where error.kind == .full {
            throw APIError.noDiskSpace
        } catch let error as UploadError {
            throw try APIError(error, uploads)
        }
    }
}

extension APIError {
    fileprivate static let noDiskSpace = APIError(
        .serviceUnavailable, "The server has no disk space for it now; retry later.", status: 507)
}
