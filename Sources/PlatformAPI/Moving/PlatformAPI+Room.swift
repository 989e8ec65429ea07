import Blobs
import MessagingWire
import Uploads

extension PlatformAPI {
    /// Does something that fills the disk.
    ///
    /// - Throws: 507 when there is no room for it.
    func withRoom<Value: Sendable>(
        _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch UploadError.insufficientStorage {
            throw APIError.noRoom
        } catch let error as DiskError where error.kind == .full {
            throw APIError.noRoom
        } catch let error as UploadError {
            throw try APIError(error, uploads)
        }
    }
}

extension APIError {
    fileprivate static let noRoom = APIError(
        .serviceUnavailable, "There is no room for it now.", status: 507)
}
