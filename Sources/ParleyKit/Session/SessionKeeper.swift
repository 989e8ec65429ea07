internal import Bytes
internal import FoundationEssentials
internal import HTTP
internal import JSON
internal import Logging
internal import SystemSupport

/// Holds the session token of a store's user, and gets a new one when the server wants it (K6).
actor SessionKeeper {
    private let transport: any Transport
    private let configuration: Configuration
    private let store: Store
    private let storage: any SessionStorage
    private let logger: Logger
    private var token: String?
    private var isLoaded = false
    /// The authentication under way, which several requests await.
    private var authentication: Task<Result<String, ParleyError>, Never>?
    /// Why the last attempts have failed: apart from the actor, because a kick does not wait.
    private let refusal = Locked(Refusal())

    /// A refusal of the backend or the server, after which the closure is not called again for some time.
    private struct Refusal {
        var error: ParleyError?
        /// How often in turn.
        var count = 0
        var until = ContinuousClock.now
        /// How often the delay was ended.
        var kicks = 0
    }

    init(
        _ configuration: Configuration, _ transport: any Transport, _ store: Store, _ logger: Logger
    ) {
        self.logger = logger
        self.configuration = configuration
        self.transport = transport
        self.store = store
        storage = sessionStorage(in: store.folder)
    }

    /// The session token; a new one if there is none.
    func currentToken() async throws(ParleyError) -> String {
        if !isLoaded {
            token = try await storedToken()
            isLoaded = true
        }
        if let token { return token }
        return try await newToken(replacing: nil, nonce: nil)
    }

    /// The time until a session is requested again; `nil` if it may be now.
    nonisolated var delay: Duration? {
        refusal.withLock { refusal in
            let rest = refusal.until - .now
            return refusal.error != nil && rest > .zero ? rest : nil
        }
    }

    /// Lets the next request begin a session, although the last attempt has failed.
    nonisolated func endDelay() {
        refusal.withLock { refusal in refusal = Refusal(kicks: refusal.kicks + 1) }
    }

    /// Gets a new session, unless the token that the server has refused was replaced meanwhile.
    ///
    /// Cancelling a task that waits for it ends the waiting only: others wait for the same session.
    ///
    /// - Parameter nonce: A nonce of the server's refusal.
    func newToken(
        replacing refused: String?, nonce: String?
    ) async throws(ParleyError) -> String {
        if let token, token != refused { return token }
        let task = if let authentication { authentication } else { try begin(nonce) }
        authentication = task
        let (results, end) = AsyncStream<Result<String, ParleyError>>.makeStream()
        Task {
            end.yield(await task.value)
            end.finish()
        }
        // It ends without a result when this task is cancelled.
        for await result in results { return try result.get() }
        throw .cancelled
    }

    /// Begins an authentication.
    ///
    /// - Throws: Why the last one has failed, until its delay is over.
    private func begin(
        _ nonce: String?
    ) throws(ParleyError) -> Task<Result<String, ParleyError>, Never> {
        let before = refusal.withLock { $0 }
        if let error = before.error, before.until > .now { throw error }
        return Task {
            defer { authentication = nil }
            do throws(ParleyError) {
                let token = try await authenticate(nonce)
                logger.debug("a session has begun")
                refusal.withLock { refusal in refusal = Refusal(kicks: refusal.kicks) }
                return .success(token)
            } catch {
                logger.info("no session could be had", metadata: error.logged)
                note(error, after: before.kicks)
                return .failure(error)
            }
        }
    }

    /// Delays the next attempt, if the backend or the server has refused this one, and no kick has come meanwhile.
    private func note(_ error: ParleyError, after kicks: Int) {
        guard [.wrongUser, .authenticationFailed, .suspended].contains(error.code) else { return }
        refusal.withLock { refusal in
            guard refusal.kicks == kicks else { return }
            refusal.error = error
            refusal.count += 1
            refusal.until = .now + Backoff.delay(attempt: refusal.count, first: 1, most: 60)
        }
    }

    /// Ends the session on the server, as far as it can be reached, and forgets the token.
    func end() async {
        guard let token = try? await storedToken() else { return }
        _ = try? await transport.send(TransportRequest(method: .delete, path: "/sessions/\(token)"))
        self.token = nil
        try? await storage.delete()
    }

    /// The token of the last run; `nil` also for one of another user than that of the store.
    private func storedToken() async throws(ParleyError) -> String? {
        if let token { return token }
        let user = try await store.read { sql in try StoreTransaction(sql).user() }
        guard let session = try await storage.read(), session.user == user else { return nil }
        return session.token
    }

    private func authenticate(_ nonce: String?) async throws(ParleyError) -> String {
        let (session, user) =
            switch configuration.credentials {
            case .identityToken(let closure): try await exchange(nonce, closure)
            case .development(let user): try await developmentLogin(user)
            case .session(let token, let user): try given(token, user)
            }
        let known = try await store.write { transaction -> UserID in
            let known = try transaction.user()
            guard known.text.isEmpty || known == user else { return known }
            try transaction.set("user", user.text)
            return user
        }
        guard known == user else {
            throw ParleyError(
                .wrongUser,
                "The identity token is for \(user), but the store belongs to \(known); use another store."
            )
        }
        try await storage.write(StoredSession(user: user, token: session))
        token = session
        isLoaded = true
        return session
    }

    private func exchange(
        _ nonce: String?, _ identityToken: @Sendable (String) async throws -> String
    ) async throws(ParleyError) -> (session: String, user: UserID) {
        let nonce = if let nonce { nonce } else { try await requestNonce() }
        let identity: String
        do {
            identity = try await identityToken(nonce)
        } catch {
            throw ParleyError(
                .authenticationFailed, "No identity token could be had: \(error).",
                isTransient: true)
        }
        guard let user = Self.user(of: identity) else {
            throw ParleyError(
                .authenticationFailed, "The identity token is no JSON Web Token with a claim prn.")
        }
        let answer = try await post("/sessions") { writer in
            writer.member("identity_token", identity)
            writer.member("app_id", configuration.application)
        }
        return (try Self.sessionToken(answer), user)
    }

    private func developmentLogin(
        _ user: UserID
    ) async throws(ParleyError) -> (session: String, user: UserID) {
        let answer = try await post("/dev/login") { writer in
            writer.member("user_id", user.text)
            writer.member("app_id", configuration.application)
        }
        return (try Self.sessionToken(answer), user)
    }

    private func given(
        _ token: String, _ user: UserID
    ) throws(ParleyError) -> (session: String, user: UserID) {
        guard token != self.token else {
            throw ParleyError(.authenticationFailed, "The session has ended; begin another one.")
        }
        return (token, user)
    }

    private func requestNonce() async throws(ParleyError) -> String {
        let answer = try await post("/nonces") { _ in }
        guard (200...299).contains(answer.status),
            let nonce = (try? JSONDocument(answer.body))?.root["nonce"]?.string
        else { throw ParleyError(status: answer.status, (try? JSONDocument(answer.body))?.root) }
        return nonce
    }

    private func post(
        _ path: String, _ members: (inout JSONWriter) -> Void
    ) async throws(ParleyError) -> TransportResponse {
        var writer = JSONWriter()
        writer.object { writer in members(&writer) }
        return try await transport.send(
            TransportRequest(
                method: .post, path: path,
                headers: [("Content-Type", "application/json"), ("Accept", SyncEngine.accept)],
                body: writer.finish()))
    }

    private static func sessionToken(_ answer: TransportResponse) throws(ParleyError) -> String {
        let body = (try? JSONDocument(answer.body))?.root
        if (200...299).contains(answer.status), let token = body?["session_token"]?.string {
            return token
        }
        let error = ParleyError(status: answer.status, body)
        guard !error.isTransient, error.code != .suspended else { throw error }
        throw ParleyError(
            .authenticationFailed, "The server refuses to begin a session: \(error.message)",
            server: error.server)
    }

    /// The user that an identity token names: the claim `prn`. The server checks the signature.
    private static func user(of token: String) -> UserID? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Base64.decodeForURL(parts[1]),
            let user = (try? JSONDocument(claims))?.root["prn"]?.string
        else { return nil }
        return UserID(user)
    }
}
