import Blobs
import Messaging
import MessagingWire
import SystemSupport
import Uploads

/// How many move applications at a time: one an application, and few in all, because each holds a
/// connection to the database, or memory for a line.
final class TransferSlots: Sendable {
    private let taken = Locked<Set<Application.ID>>([])
    private let most: Int

    /// - Parameter most: Of all applications together.
    init(atMost most: Int) { self.most = most }

    /// A place among them, given back with its last holder.
    final class Seat: Sendable {
        private let seats: TransferSlots
        private let application: Application.ID

        fileprivate init(_ seats: TransferSlots, _ application: Application.ID) {
            self.seats = seats
            self.application = application
        }

        deinit { _ = seats.taken.withLock { taken in taken.remove(application) } }
    }

    /// Takes a place.
    ///
    /// - Parameter work: What is done there, for people.
    /// - Throws: 409 while the application has one, 503 while there is none.
    func seat(for application: Application.ID, _ work: String) throws(APIError) -> Seat {
        try taken.withLock { taken throws(APIError) in
            guard !taken.contains(application) else {
                throw APIError(.requestInProgress, "\(work) is under way.")
            }
            guard taken.count < most else {
                throw APIError(.serviceUnavailable, "Other applications are being moved now.")
            }
            taken.insert(application)
        }
        return Seat(self, application)
    }
}

extension PlatformAPI {
    /// Does something that fills the disk.
    ///
    /// - Throws: 507 when there is no room for it.
    func withDiskSpace<Value: Sendable>(
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
        .serviceUnavailable, "There is no room for it now.", status: 507)
}
