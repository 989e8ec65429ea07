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
    let environment: StoreEnvironment
    let onFault: @Sendable (any Error) -> Void
    let onDeactivation: @Sendable (Webhook.ID, _ target: String, _ reason: String) -> Void
    let bell = Bell()
    let crew = Locked(Crew())
    private let lease: Lease
    private let running = BackgroundTask()

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
        self.environment = environment
        renderer = WebhookRenderer(downloads: downloads, publicBase: publicBase)
        counts = DeliveryCounts(observe: observe)
        self.onFault = onFault
        self.onDeactivation = onDeactivation
        lease = Lease("webhooks", of: store)
    }

    /// What was sent since the start, by this process.
    public var statistics: DeliveryStatistics { counts.statistics }

    /// Begins to work; once.
    public func start() { running.start { await self.run() } }

    /// Begins nothing further, and waits for what is on its way: its time is bounded by the settings.
    public func stop() async {
        crew.withLock { crew in crew.isStopping = true }
        bell.ring()
        await running.ended()
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
            // Made for the first webhook: libcurl costs 7 ms and 6 MiB, and most servers call nobody.
            var sender: WebhookSender?
            do {
                while !isStopping {
                    try Task.checkCancellation()
                    do {
                        try await muster(&group, &sender)
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
    private func muster(
        _ group: inout ThrowingDiscardingTaskGroup<any Error>, _ made: inout WebhookSender?
    ) async throws {
        let receivers = try await receivers()
        let behind = try await store.applicationsBehind()
        // Who is being asked now may have answered by the time the rows are read.
        let asked = crew.withLock { crew in crew.asked }
        let unverified = try await store.unverifiedWebhooks()
            .filter { owned in !asked.contains(owned.webhook.id) }
        let isNeeded = !receivers.isEmpty || !unverified.isEmpty
        // Where libcurl is not there it is looked for again next time.
        if isNeeded, made == nil { made = try WebhookSender(settings, environment) }
        let sender = made
        let orders = crew.withLock { crew in
            crew.orders(for: receivers, behind: behind) { receiver in
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
        for owned in unverified {
            crew.withLock { crew in _ = crew.asked.insert(owned.webhook.id) }
            group.addTask { await self.verify(owned, sender) }
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
