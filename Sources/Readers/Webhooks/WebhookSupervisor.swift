internal import Bytes
public import Messaging
public import MessagingStore
internal import SystemSupport
public import Uploads

/// Runs webhook delivery: verifies targets, reads the event log for them, sends deliveries and
/// retries them (X6).
///
/// One process at a time holds the lease for it. Pending work is stored in rows, so the process
/// that takes over after a crash loses nothing and repeats only what no target had acknowledged.
///
/// A ``WebhookLogReader`` for each application turns events into deliveries; a ``WebhookWorker``
/// for each webhook sends them. None of them waits for another, and no API request waits for any of
/// them.
public final class WebhookSupervisor: Sendable {
    private let store: MessagingStore
    private let renderer: WebhookRenderer
    private let settings: WebhookSettings
    private let counts: WebhookCounters
    private let environment: StoreEnvironment
    private let onFault: @Sendable (any Error) -> Void
    private let onDeactivation: @Sendable (Webhook.ID, _ target: String, _ reason: String) -> Void
    private let wakeSignal = WakeSignal()
    private let registry = Locked(WorkerRegistry())
    private let lease: Lease
    private let running = BackgroundTask()

    /// Milliseconds after which the list of webhooks is read again without a wake signal.
    private static let pollInterval: Int64 = 2000

    /// Creates the supervisor; nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - downloads: Signs the URLs of contents.
    ///   - publicBase: Absolute URL without a trailing slash.
    ///   - observe: Called with the duration of each attempt.
    ///   - onFault: Called once with every fault, to log it; the failed work is retried.
    ///   - onDeactivation: Called when failed deliveries or a failed verification deactivated a
    ///     webhook, so that an operator can be informed.
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

    /// The counters of this process since its start.
    public var statistics: WebhookStatistics { counts.statistics }

    /// Starts the background work; call once.
    public func start() { running.start { await self.run() } }

    /// Starts no further attempt and waits for running ones, whose time is bounded by the settings.
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

    /// Works until stopped or until the lease is lost.
    private func work() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.listen() }
            group.addTask { await self.trim() }
            group.addTask { await self.count() }
            // Created for the first webhook: libcurl takes 7 ms and 6 MiB, and most servers have no
            // webhooks.
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
                    await wakeSignal.wait(atMost: Self.pollInterval)
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

    /// Reconciles the running workers and log readers with the set of active webhooks.
    private func reconcile(
        _ group: inout ThrowingDiscardingTaskGroup<any Error>, _ made: inout WebhookSender?
    ) async throws {
        let targets = try await activeTargets()
        let behind = try await store.applicationsWithUnreadEvents()
        // Read before the rows: a verification that ends in between is then not started twice.
        let verifying = registry.withLock { registry in registry.verifying }
        let unverified = try await store.unverifiedWebhooks()
            .filter { target in !verifying.contains(target.webhook.id) }
        let isNeeded = !targets.isEmpty || !unverified.isEmpty
        // If libcurl is missing, the next round tries again.
        if isNeeded, made == nil { made = try WebhookSender(settings, environment) }
        let sender = made
        let starts = registry.withLock { registry in
            registry.reconcile(with: targets, behind: behind) { target in
                sender.map { sender in makeWorker(target, sender) }
            } _: { application in
                makeLogReader(application)
            }
        }
        counts.change { counts in counts.workers = targets.count }
        for worker in starts.workers {
            group.addTask {
                await worker.value.run()
                self.registry.withLock { registry in registry.workers[worker.key] = nil }
                self.wakeSignal.signal()
            }
        }
        for logReader in starts.logReaders {
            group.addTask {
                await logReader.value.run()
                self.registry.withLock { registry in registry.logReaders[logReader.key] = nil }
                self.wakeSignal.signal()
            }
        }
        guard let sender else { return }
        for target in unverified {
            registry.withLock { registry in _ = registry.verifying.insert(target.webhook.id) }
            group.addTask { await self.verify(target, sender) }
        }
    }

    private func activeTargets() async throws -> [WebhookTarget] {
        var targets: [WebhookTarget] = []
        var last: WebhookTarget?
        repeat {
            let page = try await store.activeWebhooks(after: last)
            targets += page
            last = page.last
        } while last != nil
        return targets
    }

    private func makeWorker(_ target: WebhookTarget, _ sender: WebhookSender) -> WebhookWorker {
        WebhookWorker(
            target, store: store, sender: sender, counts: counts, onFault: onFault
        ) { [weak self] target, reason in
            guard let self else { return }
            counts.noteDeactivation()
            onDeactivation(target.webhook.id, target.webhook.target, reason)
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

    /// Waits until every worker and log reader has ended.
    private func waitForWorkers() async {
        while registry.withLock({ registry in
            !registry.workers.isEmpty || !registry.logReaders.isEmpty
        }) {
            await wakeSignal.wait(atMost: 100)
        }
    }

    /// Wakes everything when a webhook has changed or a delivery is to be sent again.
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

    /// Verifies a target once and stores the result (webhooks §2).
    ///
    /// After a crash before the result is stored, the target is verified again.
    private func verify(_ target: WebhookTarget, _ sender: WebhookSender) async {
        defer {
            _ = registry.withLock { registry in registry.verifying.remove(target.webhook.id) }
            wakeSignal.signal()
        }
        // Encodes to 43 characters.
        let challenge = Base64.encodeForURL(environment.randomBytes(32))
        guard let outcome = await sender.verify(target.webhook.target, challenge: challenge) else {
            return
        }
        do {
            switch outcome {
            case .passed:
                try await store.finishVerification(
                    of: target.webhook, failure: nil, in: target.application)
            case .refused(let reason):
                try await store.finishVerification(
                    of: target.webhook, failure: reason, in: target.application)
                onDeactivation(target.webhook.id, target.webhook.target, reason)
            }
            counts.note(outcome)
        } catch {
            onFault(error)
            // Ends at once when cancelled; the next round verifies the target again.
            await pause(milliseconds: 1000)
        }
    }

    /// Deletes finished deliveries beyond the retention, and those of deleted webhooks.
    private func trim() async {
        await repeatRegularly(every: 600_000) {
            let now = environment.now().milliseconds
            let retention = settings.retention > 0 ? settings.retention : now
            try await store.trimDeliveries(before: Timestamp(milliseconds: now - retention))
        }
    }

    /// Counts the deliveries that are not sent yet.
    private func count() async {
        await repeatRegularly(every: 10_000) {
            let backlog = try await store.deliveryBacklog()
            counts.change { counts in counts.backlog = backlog }
        }
        counts.change { counts in counts.backlog = DeliveryBacklog() }
    }

    /// - Parameter interval: Milliseconds from one end to the next start.
    private func repeatRegularly(every interval: Int64, _ work: () async throws -> Void) async {
        await reportingFaults(work)
        await runRepeatedly(after: interval) { await reportingFaults(work) }
    }

    private func reportingFaults(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch is CancellationError {
            // The supervisor is stopping.
        } catch {
            onFault(error)
        }
    }
}

/// The workers and log readers of this process, by webhook and application.
private struct WorkerRegistry: Sendable {
    var workers: [Webhook.ID: WebhookWorker] = [:]
    var logReaders: [Application.ID: WebhookLogReader] = [:]
    /// Webhooks whose targets are being verified.
    var verifying: Set<Webhook.ID> = []
    var isStopping = false

    /// The workers and log readers to start.
    struct Starts: Sendable {
        var workers: [Webhook.ID: WebhookWorker] = [:]
        var logReaders: [Application.ID: WebhookLogReader] = [:]
    }

    /// Stops workers and log readers that are no longer needed, wakes the others, and adds the
    /// missing ones.
    ///
    /// One that is ending stays registered until it has ended, so that no two workers send
    /// deliveries of one conversation.
    ///
    /// - Parameter behind: Applications whose log must still be read for webhooks that are no
    ///   longer active.
    mutating func reconcile(
        with targets: [WebhookTarget], behind: Set<Application.ID>,
        _ makeWorker: (WebhookTarget) -> WebhookWorker?,
        _ makeLogReader: (Application.ID) -> WebhookLogReader
    ) -> Starts {
        var starts = Starts()
        guard !isStopping else { return starts }
        let wanted = Set(targets.map(\.webhook.id))
        for (id, worker) in workers where !wanted.contains(id) { worker.stop() }
        for target in targets {
            let id = target.webhook.id
            if let worker = workers[id] {
                worker.wakeSignal.signal()
            } else if let worker = makeWorker(target) {
                workers[id] = worker
                starts.workers[id] = worker
            }
        }
        let applications = Set(targets.map(\.application)).union(behind)
        for (id, logReader) in logReaders where !applications.contains(id) { logReader.stop() }
        for id in applications where logReaders[id] == nil {
            let logReader = makeLogReader(id)
            logReaders[id] = logReader
            starts.logReaders[id] = logReader
        }
        return starts
    }
}
