import Locking
import Messaging

/// Keys whose requests this process works on now.
///
/// A repeat that overtakes its first try is told so instead of waiting behind it. Between processes the
/// transaction of each decides.
final class RunningKeys: Sendable {
    private let digests = Locked<[KeyedRequest.Name: [UInt8]]>([:])

    /// - Throws: `Rejection.inProgress`; `keyReused` when something else was asked with the key.
    func begin(_ request: KeyedRequest) throws(Rejection) {
        let other = digests.withLock { digests -> [UInt8]? in
            if let digest = digests[request.name] { return digest }
            digests[request.name] = request.digest
            return nil
        }
        guard let other else { return }
        throw other == request.digest ? .inProgress : .keyReused
    }

    func end(_ request: KeyedRequest) {
        digests.withLock { digests in digests[request.name] = nil }
    }
}
