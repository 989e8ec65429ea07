import Blobs
import HTTPTransport
import Uploads

/// Why a command failed: one line for people, without internal details.
public struct CommandFailure: Error, CustomStringConvertible {
    /// The line, without the program's name and without a full stop.
    public let description: String

    /// Creates a failure with this line.
    public init(_ description: String) { self.description = description }

    /// Runs `attempt` and converts errors into failures that name the folder.
    static func naming<Value>(
        _ folder: String, as role: String = "data folder", _ attempt: () throws -> Value
    ) throws(CommandFailure) -> Value {
        do {
            return try attempt()
        } catch let refusal as FolderLock.Refusal {
            switch refusal {
            case .held: throw CommandFailure("the \(role) \(folder) is \(refusal)")
            case .disk(let error):
                throw CommandFailure("the \(role) \(folder) \(reason(error, role))")
            }
        } catch let error as DiskError {
            throw CommandFailure("the \(role) \(folder) \(reason(error, role))")
        } catch let failure as CommandFailure {
            throw failure
        } catch let fault as SigningKeys.Fault {
            throw CommandFailure("the file \(folder)/download-keys \(reason(fault))")
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// A failure of the data folder.
    init(_ error: DiskError, in folder: String) {
        self.init("the data folder \(folder) \(Self.reason(error, "data folder"))")
    }

    /// What is wrong with a folder, why, and what to do about it.
    private static func reason(_ error: DiskError, _ role: String) -> String {
        let other = role == "data folder" ? "choose another with data.folder" : "name another one"
        return switch error.kind {
        case .denied, .readOnly:
            "cannot be written (\(error.reason)): let this user write there, or \(other)"
        // Missing parent folders are created, but not everywhere: `/proc` accepts none.
        case .missing: "cannot be created there (\(error.reason)): \(other)"
        case .exists: "is a file, not a folder: \(other)"
        case .full: "is on a full disk: free space there, or \(other)"
        case .broken: "cannot be read or written (\(error.reason)): check its disk"
        case .tooManyOpen:
            "cannot be opened (\(error.reason)): raise the limit of open files (ulimit -n)"
        case .damaged: "is damaged (\(error.reason)): restore a backup with parley restore"
        case .other: "cannot be used (\(error)): \(other)"
        }
    }

    private static func reason(_ fault: SigningKeys.Fault) -> String {
        switch fault {
        case .disk(let error):
            "cannot be read or written (\(error.reason)): let this user read and write it"
        case .missing: "is missing: the first start makes it"
        case .unreadable: "does not hold valid keys"
        case .noRandomness: "cannot be made: the system gives no randomness"
        }
    }
}
