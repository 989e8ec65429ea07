import Bytes
import HTTP
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import SystemSupport

/// Checks what logs in to the console, and limits how often that may fail.
final class Logins: Sendable {
    private let store: MessagingStore
    private let clock: @Sendable () -> Timestamp
    private let passwords = PasswordQueue()
    private let failures: FailedLogins
    /// Failures of an address: five at once, then one in 30 seconds.
    private let addresses = AddressLimit(capacity: 5, interval: 30_000)
    /// Failures of all addresses: thirty a minute.
    private let all = Locked(AttemptBucket(capacity: 30, interval: 2000))
    /// Links of an address: ten a second. They have a limit of their own, so that failures cannot lock operators out.
    private let links = AddressLimit(capacity: 10, interval: 100)
    /// A password that nothing matches, so that an unknown name takes as long as a wrong password.
    private let decoy = Locked<PasswordHash?>(nil)

    init(store: MessagingStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.clock = clock
        failures = FailedLogins(store: store)
    }

    /// The answer to every login that fails, whatever the reason.
    private static var refused: APIError {
        APIError(.authenticationRequired, "Name, password, token or link is not valid.")
    }

    /// Checks a password.
    ///
    /// - Returns: The stored form of the password.
    /// - Throws: 401 for an unknown name or another password; 429.
    func check(_ password: String, of name: String, from origin: AuditOrigin, _ peer: PeerAddress)
        async throws -> [UInt8]
    {
        try takeAttempt(peer)
        let found = try await store.operatorPassword(of: name)
        let stored = found?.password.flatMap { bytes in PasswordHash(stored: bytes) }
        let isRight: Bool
        do {
            isRight = try await passwords.run { [self] () throws in
                guard let stored else {
                    _ = try decoyHash().matches(password)
                    return false
                }
                return try stored.matches(password)
            }
        } catch is PasswordQueue.Full {
            giveBack(peer)
            throw APIError.rateLimited("Too many logins are in progress.", retryAfter: 1)
        }
        guard isRight, let stored else {
            await failures.note(name: found?.operator.name, from: origin, peer)
            throw Self.refused
        }
        giveBack(peer)
        return stored.bytes
    }

    /// Checks the token of an application.
    ///
    /// - Throws: 401 for an unknown one, and for one of a suspended application; 429.
    func check(token: String, from origin: AuditOrigin, _ peer: PeerAddress) async throws
        -> Grant
    {
        try takeAttempt(peer)
        let grant = try await store.authenticate(token.utf8)
        guard let grant, !grant.application.isSuspended else {
            await failures.note(name: nil, from: origin, peer)
            throw Self.refused
        }
        giveBack(peer)
        return grant
    }

    /// Counts the use of a link.
    ///
    /// - Throws: 429 for more than ten a second.
    func takeLink(_ peer: PeerAddress) throws {
        guard links.take(peer, at: clock().milliseconds) == nil else {
            throw APIError.rateLimited(
                "An address may use at most ten links a second.", retryAfter: 1)
        }
    }

    /// Records that a link was not valid.
    func refuseLink(from origin: AuditOrigin, _ peer: PeerAddress) async -> APIError {
        await failures.note(name: nil, from: origin, peer)
        return Self.refused
    }

    /// Hashes a new password.
    func hash(_ password: String) async throws -> [UInt8] {
        do {
            return try await passwords.run { [store] () throws in
                try PasswordHash(
                    of: password, salt: store.randomBytes(PasswordHash.saltSize)
                ).bytes
            }
        } catch is PasswordQueue.Full {
            throw APIError.rateLimited("Too many logins are in progress.", retryAfter: 1)
        }
    }

    private func takeAttempt(_ peer: PeerAddress) throws {
        let now = clock().milliseconds
        if let wait = addresses.take(peer, at: now) {
            throw APIError.rateLimited(
                "Too many logins from this address have failed.",
                retryAfter: Int((wait + 999) / 1000))
        }
        if let wait = all.withLock({ all in all.take(at: now) }) {
            addresses.giveBack(peer)
            throw APIError.rateLimited(
                "Too many logins have failed; `parley console link` prints a link that logs in.",
                retryAfter: Int((wait + 999) / 1000))
        }
    }

    private func giveBack(_ peer: PeerAddress) {
        addresses.giveBack(peer)
        all.withLock { all in all.giveBack() }
    }

    private func decoyHash() throws -> PasswordHash {
        if let decoy = decoy.withLock({ $0 }) { return decoy }
        let salt = store.randomBytes(PasswordHash.saltSize)
        let made = try PasswordHash(of: "", salt: salt)
        decoy.withLock { $0 = made }
        return made
    }
}

/// Records failed logins in the server's log: once for each address and minute, with their number. Those of further
/// addresses are recorded together, so that they cannot fill the log.
final class FailedLogins: Sendable {
    /// In milliseconds.
    private static let interval: Int64 = 60_000
    /// The most addresses that are counted at a time.
    private static let capacity = 100

    private let store: MessagingStore
    /// The failures of each address that are not recorded yet; `nil` for all further addresses.
    private let pending = Locked<[AddressLimit.Key?: Int64]>([:])

    init(store: MessagingStore) { self.store = store }

    /// Records a failure at once, or counts it if one of the address was recorded within a minute.
    func note(name: String?, from origin: AuditOrigin, _ peer: PeerAddress) async {
        let (key, isCounted) = pending.withLock { pending -> (AddressLimit.Key?, Bool) in
            var key: AddressLimit.Key? = AddressLimit.Key(peer)
            if pending[key] == nil, pending.count >= Self.capacity { key = nil }
            guard let count = pending[key] else {
                pending[key] = 0
                return (key, false)
            }
            pending[key] = count + 1
            return (key, true)
        }
        guard !isCounted else { return }
        let origin =
            key == nil ? AuditOrigin(actor: nil, address: nil, request: nil) : origin
        await record(1, key == nil ? nil : name, origin)
        Task { [weak self] in
            while true {
                await pause(milliseconds: Self.interval)
                guard let self, let count = take(key) else { return }
                await record(count, nil, origin)
            }
        }
    }

    /// Takes the counted failures of an address; `nil` if there are none, and then counting ends.
    private func take(_ key: AddressLimit.Key?) -> Int64? {
        pending.withLock { pending in
            let count = pending[key] ?? 0
            if count > 0 { pending[key] = 0 } else { pending.removeValue(forKey: key) }
            return count > 0 ? count : nil
        }
    }

    private func record(_ count: Int64, _ name: String?, _ origin: AuditOrigin) async {
        // A login fails in the same way if the database cannot record it.
        try? await store.recordAuditEvent(
            .operatorLoginFailed, subject: name, count: count, from: origin)
    }
}
