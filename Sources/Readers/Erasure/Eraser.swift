public import Messaging
public import MessagingStore
internal import MessagingWire
public import Uploads

/// Erases users in the background (X16), one after another and the applications in turn, in one process at a time.
///
/// Running erasures are rows, so a crash loses nothing. It looks for new ones every second, as ``Exporter`` does.
public final class Eraser: Sendable {
    private let store: MessagingStore
    private let uploads: ErasureUploads
    private let onFault: @Sendable (any Error, Erasure.ID?) -> Void
    private let leasedWork: LeasedWork

    /// Creates the eraser; nothing runs before ``start()``.
    ///
    /// - Parameter onFault: Called with every fault, to log it; the erasure continues after a pause.
    public init(
        store: MessagingStore, uploads: Uploads,
        onFault: @escaping @Sendable (any Error, Erasure.ID?) -> Void
    ) {
        self.store = store
        self.uploads = ErasureUploads(uploads)
        self.onFault = onFault
        leasedWork = LeasedWork("eraser", of: store) { error in onFault(error, nil) }
    }

    /// Starts the background work; call once.
    public func start() {
        leasedWork.start(priority: .utility) { [weak self] in try await self?.work() }
    }

    /// Stops within one page of rows; the next start continues.
    public func stop() async { await leasedWork.stop() }

    /// Does all pending work now, with or without the lease.
    ///
    /// - Throws: `CancellationError` and faults of the list. An erasure that fails does not stop the others.
    public func work() async throws {
        var failed: Set<Erasure.ID> = []
        while true {
            let due = try await store.nextErasures().filter { next in !failed.contains(next.id) }
            guard !due.isEmpty else { return }
            for (application, id) in due {
                do {
                    try await store.runErasure(
                        id, in: application, bodies: .json, uploads: uploads)
                } catch let error as CancellationError {
                    throw error
                } catch {
                    failed.insert(id)
                    onFault(error, id)
                }
            }
        }
    }
}

extension ErasureBodies {
    /// The bodies that this server writes.
    public static let json = ErasureBodies(
        namesUser: { json, user in ErasedBodyJSON.names(json, user) },
        namesUserInText: { text, user in ErasedBodyJSON.names(inText: text, user) },
        delivery: { body in ErasedBodyJSON.delivery(body) })
}

extension ErasureUploads {
    fileprivate init(_ uploads: Uploads) {
        self.init(
            remove: { user, application in
                try await uploads.removeUploads(of: user.text, in: application.uuid)
            },
            count: { user, application in
                try await uploads.countUploads(of: user.text, in: application.uuid)
            })
    }
}
