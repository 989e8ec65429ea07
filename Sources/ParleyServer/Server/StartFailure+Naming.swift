import Blobs
import HTTPTransport
import Uploads

extension StartFailure {
    /// Does something with the data folder, or another one; what goes wrong is said with its name.
    static func naming<Value>(
        _ folder: String, as role: String = "data folder", _ attempt: () throws -> Value
    ) throws(StartFailure) -> Value {
        do {
            return try attempt()
        } catch let refusal as FolderLock.Refusal {
            switch refusal {
            case .held: throw StartFailure("the \(role) \(folder) is \(refusal)")
            case .disk(let error): throw StartFailure("the \(role) \(folder) \(reason(error))")
            }
        } catch let error as DiskError {
            throw StartFailure("the \(role) \(folder) \(reason(error))")
        } catch let fault as SigningKeys.Fault {
            throw StartFailure("the file \(folder)/download-keys \(reason(fault))")
        } catch {
            throw StartFailure("\(error)")
        }
    }

    private static func reason(_ error: DiskError) -> String {
        switch error.kind {
        case .denied, .readOnly: "cannot be written: \(error)"
        // Folders above it are made, but not everywhere: the kernel's own take none.
        case .missing: "cannot be made there: \(error)"
        case .exists: "is a file, not a folder"
        case .full: "is on a full disk"
        default: "cannot be used: \(error)"
        }
    }

    private static func reason(_ fault: SigningKeys.Fault) -> String {
        switch fault {
        case .disk(let error): "cannot be used: \(error)"
        case .missing: "is missing: the first start makes it"
        case .unreadable: "holds something else than keys"
        case .noRandomness: "cannot be made: the system gives no randomness"
        }
    }
}
