internal import Bytes
public import Messaging
public import MessagingStore
internal import SystemSupport
public import Uploads

/// Sends webhooks what happens: asks their targets, reads the log for them, sends and sends again (X6).
///
/// Of several processes one does. What there is to do stands in rows, so whoever goes on after a crash loses
/// nothing and repeats what nobody had acknowledged.
///
/// A ``WebhookLogReader`` for each application makes events into deliveries, a ``WebhookWorker`` for each webhook
/// sends them: none waits for another, and no request of the API waits for any of them.
public final class WebhookSupervisor: Sendable {
    let store: MessagingStore
    let renderer: WebhookRenderer
    let settings: WebhookSettings
    let counts: WebhookCounters
    let environment: StoreEnvironment
    let onFault: @Sendable (any Error) -> Void
    let onDeactivation: @Sendable (Webhook.ID, _ target: String, _ reason: String) -> Void
    let wakeSignal = WakeSignal()
    let registry = Locked(WorkerRegistry())
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
        settings: WebhookSettings, environment: StoreEnvironment,
        observe: @escaping @Sendable (Duration) -> Void = { _ in },
        onFault: @escaping @Sendable (any Error) -> Void,
        onDeactivation:
            @escaping @Sendable (Webhook.ID, _ target: String, _ reason: String) -> Void
    ) {
        self.store = store
        self.settings = settings
        self.environment = environment
        renderer = WebhookRenderer(downloads: downloads, publicBase: publicBase)
        counts = WebhookCounters(observe: observe)
        self.onFault = onFault
        self.onDeactivation = onDeactivation
        lease = Lease("webhooks", of: store)
    }

    /// What was sent since the start, by this process.
    public var statistics: WebhookStatistics { counts.statistics }

    /// Begins to work; once.
    public func start() { running.start { await self.run() } }

    /// Begins nothing further, and waits for what is on its way: its time is bounded by the settings.
    public func stop() async {
        registry.withLock { registry in registry.isStopping = true }
        wakeSignal.signal()
        await running.waitUntilEnded()
        await lease.release()
    }

    private var isStopping: Bool { registry.withLock { registry in registry.isStopping } }

    private func run() async {
        while !isStopping {
            do {
                let isOurs = try await lease.hold { try await self.work() } != nil
                if !isOurs { await wakeSignal.wait(atMost: 1000) }
            } catch is CancellationError {
                return
            } catch {
                onFault(error)
                await wakeSignal.wait(atMost: 1000)
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
                        try await reconcile(&group, &sender)
                    } catch let error as CancellationError {
                        throw error
                    } catch {
                        onFault(error)
                    }
                    await wakeSignal.wait(atMost: Self.patience)
                }
            } catch {
                stopWorkers()
                throw error
            }
            stopWorkers()
            await waitForWorkers()
            group.cancelAll()
        }
    }

    /// Has everybody at work who should be.
    private func reconcile(
        _ group: inout ThrowingDiscardingTaskGroup<any Error>, _ made: inout WebhookSender?
    ) async throws {
        let receivers = try await receivers()
        let behind = try await store.applicationsWithUnreadEvents()
        // Who is being asked now may have answered by the time the rows are read.
        let asked = registry.withLock { registry in registry.asked }
        let unverified = try await store.unverifiedWebhooks()
            .filter { owned in !asked.contains(owned.webhook.id) }
        let isNeeded = !receivers.isEmpty || !unverified.isEmpty
        // Where libcurl is not there it is looked for again next time.
        if isNeeded, made == nil { made = try WebhookSender(settings, environment) }
        let sender = made
        let orders = registry.withLock { registry in
            registry.orders(for: receivers, behind: behind) { receiver in
                sender.map { sender in makeWorker(receiver, sender) }
            } _: { application in
                makeLogReader(application)
            }
        }
        counts.change { counts in counts.workers = receivers.count }
        for worker in orders.workers {
            group.addTask {
                await worker.value.run()
                self.registry.withLock { registry in registry.workers[worker.key] = nil }
                self.wakeSignal.signal()
            }
        }
        for logReader in orders.logReaders {
            group.addTask {
                await logReader.value.run()
                self.registry.withLock { registry in registry.logReaders[logReader.key] = nil }
                self.wakeSignal.signal()
            }
        }
        guard let sender else { return }
        for owned in unverified {
            registry.withLock { registry in _ = registry.asked.insert(owned.webhook.id) }
            group.addTask { await self.verify(owned, sender) }
        }
    }

    private func receivers() async throws -> [WebhookTarget] {
        var receivers: [WebhookTarget] = []
        var last: OwnedWebhook?
        repeat {
            let stretch = try await store.activeWebhooks(after: last)
            for owned in stretch {
                // Its worker learns of a former secret with what is to be sent.
                receivers.append(
                    WebhookTarget(
                        application: owned.application, webhook: owned.webhook, former: nil))
            }
            last = stretch.last
        } while last != nil
        return receivers
    }

    private func makeWorker(_ receiver: WebhookTarget, _ sender: WebhookSender) -> WebhookWorker {
        WebhookWorker(
            receiver, store: store, sender: sender, counts: counts, onFault: onFault
        ) { [weak self] receiver, reason in
            guard let self else { return }
            counts.noteDeactivation()
            onDeactivation(receiver.webhook.id, receiver.webhook.target, reason)
            wakeSignal.signal()
        }
    }

    private func makeLogReader(_ application: Application.ID) -> WebhookLogReader {
        WebhookLogReader(application, store: store, renderer: renderer, onFault: onFault) {
            [weak self] webhooks in
            guard let self else { return }
            let workers = registry.withLock { registry in
                webhooks.compactMap { registry.workers[$0] }
            }
            for worker in workers { worker.wakeSignal.signal() }
        }
    }

    private func stopWorkers() {
        let (workers, logReaders) = registry.withLock { registry in
            (Array(registry.workers.values), Array(registry.logReaders.values))
        }
        for worker in workers { worker.stop() }
        for logReader in logReaders { logReader.stop() }
    }

    /// Waits until nothing is on its way any more.
    private func waitForWorkers() async {
        while registry.withLock({ registry in
            !registry.workers.isEmpty || !registry.logReaders.isEmpty
        }) {
            await wakeSignal.wait(atMost: 100)
        }
    }

    /// Rings whenever a webhook has changed, or something is to be sent again.
    private func listen() async {
        while !Task.isCancelled {
            await store.webhookSignal.wait(atMost: 60_000)
            wakeSignal.signal()
            let workers = registry.withLock { registry in Array(registry.workers.values) }
            for worker in workers { worker.wakeSignal.signal() }
            let logReaders = registry.withLock { registry in Array(registry.logReaders.values) }
            for logReader in logReaders { logReader.wakeSignal.signal() }
        }
    }
}

extension WebhookSupervisor {
    /// Asks a target once whether it wants what it would be sent, and remembers what came of it (webhooks §2).
    ///
    /// A crash before it is remembered has it asked again.
    func verify(_ owned: OwnedWebhook, _ sender: WebhookSender) async {
        defer {
            _ = registry.withLock { registry in registry.asked.remove(owned.webhook.id) }
            wakeSignal.signal()
        }
        // 43 characters.
        let challenge = Base64.encodeForURL(environment.randomBytes(32))
        guard let outcome = await sender.verify(owned.webhook.target, challenge: challenge) else {
            return
        }
        do {
            switch outcome {
            case .passed:
                try await store.finishVerification(
                    of: owned.webhook, failure: nil, in: owned.application)
            case .refused(let reason):
                try await store.finishVerification(
                    of: owned.webhook, failure: reason, in: owned.application)
                onDeactivation(owned.webhook.id, owned.webhook.target, reason)
            }
            counts.note(outcome)
        } catch {
            onFault(error)
            // Cancelled while it waits, it ends at once; it is asked again by the next look.
            await pause(milliseconds: 1000)
        }
    }
}

// What is done now and again, for as long as this process sends.
extension WebhookSupervisor {
    /// Lets go of what was over long ago, and of what deleted webhooks have left.
    func trim() async {
        await regularly(every: 600_000) {
            let now = environment.now().milliseconds
            let retention = settings.retention > 0 ? settings.retention : now
            try await store.trimDeliveries(before: Timestamp(milliseconds: now - retention))
        }
    }

    /// Counts what has not been sent.
    func count() async {
        await regularly(every: 10_000) {
            let backlog = try await store.deliveryBacklog()
            counts.change { counts in counts.backlog = backlog }
        }
        counts.change { counts in counts.backlog = DeliveryBacklog() }
    }

    /// - Parameter interval: Milliseconds from one end to the next beginning.
    private func regularly(every interval: Int64, _ work: () async throws -> Void) async {
        await telling(work)
        await runRepeatedly(after: interval) { await telling(work) }
    }

    private func telling(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch is CancellationError {
            // Nobody waits for it any more.
        } catch {
            onFault(error)
        }
    }
}

/// Who is at work for which webhook and which application.
struct WorkerRegistry: Sendable {
    var workers: [Webhook.ID: WebhookWorker] = [:]
    var logReaders: [Application.ID: WebhookLogReader] = [:]
    /// Webhooks whose targets are being asked.
    var asked: Set<Webhook.ID> = []
    var isStopping = false

    /// Who has to begin.
    struct Orders: Sendable {
        var workers: [Webhook.ID: WebhookWorker] = [:]
        var logReaders: [Application.ID: WebhookLogReader] = [:]
    }

    /// Puts the registry in order for the webhooks there are: some begin, some end, the others hear what changed.
    ///
    /// Who is ending keeps his place until he has: nothing of one conversation is sent by two.
    ///
    /// - Parameter behind: Applications whose log has still to be read for webhooks that are active no more.
    mutating func orders(
        for receivers: [WebhookTarget], behind: Set<Application.ID>,
        _ makeWorker: (WebhookTarget) -> WebhookWorker?,
        _ makeLogReader: (Application.ID) -> WebhookLogReader
    ) -> Orders {
        var orders = Orders()
        guard !isStopping else { return orders }
        let wanted = Set(receivers.map(\.webhook.id))
        for (id, worker) in workers where !wanted.contains(id) { worker.stop() }
        for receiver in receivers {
            let id = receiver.webhook.id
            if let worker = workers[id] {
                worker.wakeSignal.signal()
            } else if let worker = makeWorker(receiver) {
                workers[id] = worker
                orders.workers[id] = worker
            }
        }
        let applications = Set(receivers.map(\.application)).union(behind)
        for (id, logReader) in logReaders where !applications.contains(id) { logReader.stop() }
        for id in applications where logReaders[id] == nil {
            let logReader = makeLogReader(id)
            logReaders[id] = logReader
            orders.logReaders[id] = logReader
        }
        return orders
    }
}
