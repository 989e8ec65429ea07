internal import Blobs
internal import FoundationEssentials
internal import Logging

/// A user's view of a Parley server on this device: conversations and messages that are read, written and observed without a
/// network, and reach the server when there is one.
///
/// Every read is answered from the store on this device, and a command returns when it is durable there. One client has
/// one store folder and one user. All functions may be called from any task.
///
/// ```swift
/// let client = try await ParleyClient(
///     Configuration(server: server, application: application, store: folder) { nonce in
///         try await myBackend.identityToken(for: nonce)
///     })
/// try await client.authenticate()
/// client.connect()
/// let conversation = try await client.newConversation(with: ["bo"])
/// try await client.send([.text("Hello")], to: conversation.id)
/// ```
public final class ParleyClient: Sendable {
    let store: Store
    let engine: SyncEngine
    let transferCenter: TransferCenter
    let configuration: Configuration
    let missingMessages = MissingMessages()

    /// Opens the store, without any request; everything of the last run is there at once.
    ///
    /// Blocks while it creates or opens the database.
    ///
    /// - Throws: `storeInUse` if another client has it open, `storeTooNew`, `storeCorrupt`, `diskFull` or
    ///   `storeUnavailable`.
    public convenience init(_ configuration: Configuration) async throws(ParleyError) {
        let transport = try CurlTransport(
            server: configuration.server, transfers: configuration.concurrentTransfers)
        try await self.init(configuration, transport)
    }

    /// Opens the store of a client that sends its requests through a transport.
    package convenience init(
        _ configuration: Configuration, _ transport: any Transport
    ) async throws(ParleyError) {
        let background: (any BackgroundUploader)?
        #if canImport(Darwin)
            background = configuration.backgroundTransfers.identifier.map { identifier in
                BackgroundSession(
                    identifier: identifier, server: configuration.server,
                    folder: configuration.store.path)
            }
        #else
            background = nil
        #endif
        try await self.init(configuration, transport, background)
    }

    /// - Parameter background: Sends the bytes of uploads instead of the transport.
    init(
        _ configuration: Configuration, _ transport: any Transport,
        _ background: (any BackgroundUploader)?
    ) async throws(ParleyError) {
        self.configuration = configuration
        store = try Store(folder: configuration.store.path, onPrepare: configuration.onPrepare)
        engine = SyncEngine(configuration, store, transport)
        try await store.write { transaction in
            // The choice of the first run stays, because what is on this device follows from it.
            if try transaction.setting("history") == nil {
                try transaction.set("history", configuration.history.parameter)
            }
            let reports = configuration.reportsDelivery ? nil : "0"
            if try transaction.setting("reports_delivery") != reports {
                try transaction.set("reports_delivery", reports)
            }
        }
        transferCenter = TransferCenter(
            engine, try ContentFolder(at: "\(store.folder)/contents"), background)
        try await transferCenter.recover()
        transferCenter.start()
    }

    /// The user of the store; `nil` before the first ``authenticate()``.
    public var user: UserID? {
        get async throws(ParleyError) {
            let user = try await store.read { sql in try StoreTransaction(sql).user() }
            return user.text.isEmpty ? nil : user
        }
    }

    // MARK: - Session

    /// Begins a session if there is none, and returns the identity of the user as this device knows it.
    ///
    /// - Throws: `authenticationFailed`, `wrongUser` if the identity token is for another user than the store, `suspended`,
    ///   or an error of the network.
    @discardableResult
    public func authenticate() async throws(ParleyError) -> Identity {
        engine.session.endDelay()
        _ = try await engine.session.currentToken()
        return try await read { reader in try reader.identity(reader.me) }
    }

    /// Ends the session as far as the server can be reached, and deletes everything in the store: conversations, messages,
    /// files, commands that were not sent, and the token. The client is closed.
    ///
    /// - Throws: `closed` if it is already, `storeUnavailable` if a file cannot be deleted.
    public func deauthenticate() async throws(ParleyError) {
        guard store.isOpen else { throw .closed }
        await disconnect()
        await engine.session.end()
        await end()
        try store.delete()
    }

    /// Disconnects and closes the store. Later calls throw `closed`.
    public func close() async {
        await end()
        store.close()
    }

    /// Ends everything that uses the store.
    private func end() async {
        await engine.disconnect()
        await transferCenter.close()
        engine.connections.close()
        engine.failures.close()
        engine.signals.close()
    }

    // MARK: - Connection

    /// Connects to the server and stays connected: it reconnects until ``disconnect()``.
    public func connect() {
        engine.connect()
        transferCenter.connect()
    }

    /// Ends the connection; commands, uploads and downloads wait in the store.
    public func disconnect() async {
        await transferCenter.disconnect()
        await engine.disconnect()
    }

    /// Ends every delay before a retry, as after a change of the network, and gives up requests that have no answer.
    public func kick() {
        engine.kick()
        transferCenter.kick()
        missingMessages.kick()
    }

    /// Receives once what has changed, without staying connected.
    ///
    /// - Throws: `timedOut` if it takes longer than the limit; what was received until then is stored.
    public func catchUp(within limit: Duration) async throws(ParleyError) {
        let engine = engine
        let pass = Task { () async -> ParleyError? in
            do throws(ParleyError) {
                try await engine.catchUp()
                return nil
            } catch {
                return error
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit.forSleeping)
            pass.cancel()
        }
        defer { timer.cancel() }
        guard let error = await pass.value else { return }
        throw error.code == .cancelled && !Task.isCancelled
            ? ParleyError(
                .timedOut, "Catching up took longer than \(limit).", isTransient: true)
            : error
    }

    /// The state of the connection.
    public var connection: ConnectionState { engine.connection }

    /// The states of the connection from now on; a slow reader gets the newest.
    public var connections: Updates<ConnectionState> { Updates(engine.connections) }

    /// Commands that the server has refused from now on.
    public var failures: Updates<OperationFailure> { Updates(engine.failures) }

    /// What other users do from now on: typing and presence.
    public var signals: Updates<Signal> { Updates(engine.signals) }

    /// The changes on this device from now on, by the user and from the server: one array for each commit.
    ///
    /// A reader that leaves more than 10,000 changes unread gets one ``ObjectChange/Kind/resynchronize`` instead.
    public var changes: ChangeSequence { ChangeSequence(store.commits) }

    /// Reads objects from the store.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout ObjectReader) throws -> Value
    ) async throws(ParleyError) -> Value {
        let activity = engine.activity
        return try await store.read { sql in
            var reader = ObjectReader(sql, of: try StoreTransaction(sql).user(), activity)
            return try body(&reader)
        }
    }
}

extension Duration {
    /// The same, at most a year: a longer sleep overflows the clock.
    var forSleeping: Duration { min(max(self, .zero), .seconds(365 * 86_400)) }
}

/// The changes of each commit on a device.
public struct ChangeSequence: AsyncSequence, Sendable {
    private let commits: Publisher<Store.Commit>

    init(_ commits: Publisher<Store.Commit>) { self.commits = commits }

    /// Begins to receive.
    public func makeAsyncIterator() -> Iterator { Iterator(commits.subscribe()) }

    /// Reads the changes in turn.
    public struct Iterator: AsyncIteratorProtocol {
        private let mailbox: Mailbox<Store.Commit>

        init(_ mailbox: Mailbox<Store.Commit>) { self.mailbox = mailbox }

        /// The changes of the next commit, or of several that a slow reader gets together; `nil` at the end.
        public mutating func next() async -> [ObjectChange]? {
            while let commit = await mailbox.next() {
                if !commit.changes.isEmpty { return commit.changes }
            }
            return nil
        }
    }
}
