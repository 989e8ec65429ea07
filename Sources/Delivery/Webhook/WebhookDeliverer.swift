internal import HTTPClient
internal import Locking
public import Messaging
public import MessagingStore
public import Uploads

/// Sends webhooks what happens: asks their targets, reads the log for them, sends and sends again (X6).
///
/// Of several processes one does. What there is to do stands in rows, so whoever goes on after a crash loses
/// nothing and repeats what nobody had acknowledged.
///
/// A ``WebhookFollower`` for each application makes events into deliveries, a ``Courier`` for each webhook
/// sends them: none waits for another, and no request of the API waits for any of them.
public final class WebhookDeliverer: Sendable {
    let store: MessagingStore
    let renderer: WebhookRenderer
    let settings: DeliverySettings
    let counts: DeliveryCounts
    let now: @Sendable () -> Timestamp
    let randomBytes: @Sendable (Int) -> [UInt8]
    let onFault: @Sendable (any Error) -> Void
    let onDeactivation: @Sendable (Webhook.ID, _ target: String, _ reason: String) -> Void
    let bell = Bell()
    let sender: LazySender
    let crew = Locked(Crew())
    private let lease: Lease
    private let running: Locked<Task<Void, Never>?> = Locked(nil)

    /// Milliseconds between two looks at the webhooks there are though nobody rang.
    private static let patience: Int64 = 2000

    /// Puts it together; it does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - downloads: Signs the URLs of contents.
    ///   - publicBase: Absolute URL without a trailing slash.
    ///   - observe: Told how long each try took.
    ///   - onFault: Told of every fault once, to log it; what failed is tried again.
    ///   - onDeactivation: Told when a webhook was deactivated by what came of its deliveries or of the
    ///     question whether it wants any, so that somebody can be told.
    public init(
        store: MessagingStore, downloads: Downloads, publicBase: String,
        settings: DeliverySettings, environment: StoreEnvironment,
        observe: @escaping @Sendable (Duration) -> Void = { _ in },
        onFault: @escaping @Sendable (any Error) -> Void,
        onDeactivation:
            @escaping @Sendable (Webhook.ID, _ target: String, _ reason: String) -> Void
    ) {
        self.store = store
        self.settings = settings
        now = environment.now
        randomBytes = environment.randomBytes
        sender = LazySender(settings, now: environment.now) {
            Double(environment.randomBytes(2).reduce(0) { $0 << 8 | Int($1) }) / 65_535
        }
        renderer = WebhookRenderer(
            downloads: downloads, publicBase: publicBase, now: environment.now)
        counts = DeliveryCounts(observe: observe)
        self.onFault = onFault
        self.onDeactivation = onDeactivation
        lease = Lease("webhooks", of: store)
    }

    /// What was sent since the start, by this process.
    public var statistics: DeliveryStatistics { counts.statistics }

    /// Begins to work.
    public func start() {
        let task = Task { await self.run() }
        running.withLock { running in running = task }
    }

    /// Begins nothing further, and waits for what is on its way: its time is bounded by the settings.
    public func stop() async {
        let task = running.withLock { running in
            defer { running = nil }
            return running
        }
        crew.withLock { crew in crew.isStopping = true }
        bell.ring()
        await task?.value
        await lease.release()
    }

    private var isStopping: Bool { crew.withLock { crew in crew.isStopping } }

    private func run() async {
        while !isStopping {
            do {
                let isOurs = try await lease.hold { try await self.work() } != nil
                if !isOurs { await bell.wait(atMost: 1000) }
            } catch is CancellationError {
                return
            } catch {
                onFault(error)
                await bell.wait(atMost: 1000)
            }
        }
    }

    /// Works until it is stopped or the lease is lost.
    private func work() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.listen() }
            group.addTask { await self.trim() }
            group.addTask { await self.count() }
            do {
                while !isStopping {
                    try Task.checkCancellation()
                    do {
                        try await muster(&group)
                    } catch let error as CancellationError {
                        throw error
                    } catch {
                        onFault(error)
                    }
                    await bell.wait(atMost: Self.patience)
                }
            } catch {
                dismiss()
                throw error
            }
            dismiss()
            await dismissed()
            group.cancelAll()
        }
    }

    /// Has everybody at work who should be.
    private func muster(_ group: inout ThrowingDiscardingTaskGroup<any Error>) async throws {
        let receivers = try await receivers()
        let unverified = try await store.unverifiedWebhooks()
        let isNeeded = !receivers.isEmpty || !unverified.isEmpty
        let sender = try isNeeded ? self.sender.get() : nil
        let orders = crew.withLock { crew in
            crew.orders(for: receivers) { receiver in
                sender.map { sender in makeCourier(receiver, sender) }
            } _: { application in
                makeFollower(application)
            }
        }
        counts.change { counts in counts.couriers = receivers.count }
        for courier in orders.couriers {
            group.addTask {
                await courier.value.run()
                self.crew.withLock { crew in crew.couriers[courier.key] = nil }
                self.bell.ring()
            }
        }
        for follower in orders.followers {
            group.addTask {
                await follower.value.run()
                self.crew.withLock { crew in crew.followers[follower.key] = nil }
                self.bell.ring()
            }
        }
        guard let sender else { return }
        for asked in unverified {
            let isNew = crew.withLock { crew in crew.asked.insert(asked.webhook.id).inserted }
            guard isNew else { continue }
            group.addTask { await self.verify(asked, sender) }
        }
    }

    private func receivers() async throws -> [Receiver] {
        var receivers: [Receiver] = []
        var last: OwnedWebhook?
        repeat {
            let stretch = try await store.activeWebhooks(after: last)
            for owned in stretch {
                // Its courier learns of a former secret with what is to be sent.
                receivers.append(
                    Receiver(application: owned.application, webhook: owned.webhook, former: nil))
            }
            last = stretch.last
        } while last != nil
        return receivers
    }

    private func makeCourier(_ receiver: Receiver, _ sender: WebhookSender) -> Courier {
        Courier(
            receiver, store: store, sender: sender, counts: counts, onFault: onFault
        ) { [weak self] receiver, reason in
            guard let self else { return }
            counts.noteDeactivation()
            onDeactivation(receiver.webhook.id, receiver.webhook.target, reason)
            bell.ring()
        }
    }

    private func makeFollower(_ application: Application.ID) -> WebhookFollower {
        WebhookFollower(application, store: store, renderer: renderer, onFault: onFault) {
            [weak self] webhooks in
            guard let self else { return }
            let couriers = crew.withLock { crew in webhooks.compactMap { crew.couriers[$0] } }
            for courier in couriers { courier.bell.ring() }
        }
    }

    private func dismiss() {
        let (couriers, followers) = crew.withLock { crew in
            (Array(crew.couriers.values), Array(crew.followers.values))
        }
        for courier in couriers { courier.stop() }
        for follower in followers { follower.stop() }
    }

    /// Waits until nothing is on its way any more.
    private func dismissed() async {
        while crew.withLock({ crew in !crew.couriers.isEmpty || !crew.followers.isEmpty }) {
            await bell.wait(atMost: 100)
        }
    }

    /// Rings whenever a webhook has changed, or something is to be sent again.
    private func listen() async {
        while !Task.isCancelled {
            await store.webhookSignal.wait(atMost: 60_000)
            bell.ring()
            let couriers = crew.withLock { crew in Array(crew.couriers.values) }
            for courier in couriers { courier.bell.ring() }
            let followers = crew.withLock { crew in Array(crew.followers.values) }
            for follower in followers { follower.bell.ring() }
        }
    }
}
