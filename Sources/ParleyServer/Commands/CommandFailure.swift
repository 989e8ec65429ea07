import Blobs
import FoundationEssentials
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
            case .disk(let error): throw CommandFailure(error, in: folder, as: role)
            }
        } catch let error as DiskError {
            throw CommandFailure(error, in: folder, as: role)
        } catch let failure as CommandFailure {
            throw failure
        } catch let fault as SigningKeys.Fault {
            throw CommandFailure("the file \(folder)/download-keys \(reason(fault))")
        } catch let error as SystemError {
            // Only a lack of descriptors keeps a server from being created.
            throw CommandFailure("\(error): raise the limit of open files (ulimit -n)")
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// A failure of a folder: what is wrong with it, why, and what to do about it.
    init(_ error: DiskError, in folder: String, as role: String = "data folder") {
        let other = role == "data folder" ? "choose another with data.folder" : "name another one"
        self.init("the \(role) \(folder) \(Self.reason(error, folder, other))")
    }

    /// A failure to listen on an address, or on one of several.
    init(_ error: SystemError, listeningOn addresses: [ListenAddress]) {
        let names = addresses.map(\.description).joined(separator: ", ")
        self.init("cannot listen on \(names): \(Self.reason(error, addresses))")
    }

    private static func reason(_ error: SystemError, _ addresses: [ListenAddress]) -> String {
        if error.isAddressInUse {
            return "the address is in use by another process: stop it, or choose another address"
        }
        if error.isDenied {
            return
                "\(error.reason): ports below 1024 need the capability CAP_NET_BIND_SERVICE, Unix sockets a folder that this user may write"
        }
        if error.isNoSocket {
            return "there is a file that is no socket: choose another path, or remove the file"
        }
        if addresses.count == 1, case .unix = addresses[0] {
            return "\(error.reason): create its folder, or choose another path"
        }
        return "\(error.reason): choose an address of this machine"
    }

    private static func reason(_ error: DiskError, _ folder: String, _ other: String) -> String {
        switch error.kind {
        case .denied, .readOnly:
            "cannot be written (\(error.reason)): let this user write there, or \(other)"
        // Missing parent folders are created, but not everywhere: `/proc` accepts none.
        case .missing: "cannot be created there (\(error.reason)): \(other)"
        case .exists: "is a file, not a folder: \(other)"
        case .notFolder where FileManager.default.fileExists(atPath: folder):
            "is a file, not a folder: \(other)"
        case .notFolder: "cannot be created below a file: \(other)"
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
        case .missing: "is missing: the first start creates it"
        case .unreadable: "does not contain valid keys"
        case .noRandomness: "cannot be created: the system provides no random numbers"
        }
    }
}
