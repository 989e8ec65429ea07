internal import Messaging
internal import MessagingStore
internal import MessagingWire
internal import SystemSupport

/// Reads the event log of one application and creates deliveries for its webhooks.
///
/// The checkpoint and the deliveries are stored in one transaction: a crash neither loses a
/// delivery nor creates one twice.
final class WebhookLogReader: Sendable {
    let wakeSignal = WakeSignal()
    private let application: Application.ID
    private let store: MessagingStore
    private let renderer: WebhookRenderer
    private let onFault: @Sendable (any Error) -> Void
    /// Called with the webhooks that have new deliveries.
    private let onDeliveries: @Sendable ([Webhook.ID]) -> Void
    private let isStopping = Locked(false)
    /// How far it has read beyond the stored checkpoint, where no event concerned a webhook.
    private let ahead = Locked<Ahead?>(nil)

    private struct Ahead: Sendable {
        let stored: WebhookCheckpoint
        let webhooks: [WebhookSubscription]
        let checkpoint: WebhookCheckpoint
    }

    /// Webhook events read at once; with 50 webhooks they make 3,200 rows.
    private static let batchSize = 64
    /// Events without any delivery after which the checkpoint is stored all the same.
    private static let checkpointInterval: Int64 = 1000
    /// Milliseconds after a fault, and until the log is read again without a wake signal.
    private static let (retryDelay, pollInterval): (Int64, Int64) = (1000, 5000)

    init(
        _ application: Application.ID, store: MessagingStore, renderer: WebhookRenderer,
        onFault: @escaping @Sendable (any Error) -> Void,
        onDeliveries: @escaping @Sendable ([Webhook.ID]) -> Void
    ) {
        self.application = application
        self.store = store
        self.renderer = renderer
        self.onFault = onFault
        self.onDeliveries = onDeliveries
    }

    /// ``run()`` ends after the batch being read.
    func stop() {
        isStopping.withLock { isStopping in isStopping = true }
        wakeSignal.signal()
    }

    /// Reads the log and creates the deliveries of replays, until ``stop()``.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.listen() }
            while !Task.isCancelled, !isStopping.withLock({ $0 }) {
                do {
                    let isBehind = try await follow()
                    let isReplaying = try await replay()
                    if !isBehind, !isReplaying { await wakeSignal.wait(atMost: Self.pollInterval) }
                } catch is CancellationError {
                    break
                } catch {
                    onFault(error)
                    // Cancelled while it waits, the loop ends.
                    await pause(milliseconds: Self.retryDelay)
                }
            }
            group.cancelAll()
        }
    }

    /// Signals each commit of the application.
    private func listen() async {
        var latest = store.signal.latest(in: application) ?? .start
        while let position = await store.signal.wait(past: latest, in: application) {
            latest = position
            wakeSignal.signal()
        }
    }

    /// Reads one batch of the log.
    ///
    /// - Returns: Whether more can be read now.
    private func follow() async throws -> Bool {
        let webhooks = try await store.webhookSubscriptions(in: application)
        guard let since = webhooks.compactMap(\.since).min() else { return false }
        let stored = try await store.webhookCheckpoint(in: application)
        var checkpoint = stored ?? WebhookCheckpoint(after: since)
        if let ahead = ahead.withLock({ $0 }), ahead.stored == stored,
            ahead.webhooks == webhooks
        {
            checkpoint = ahead.checkpoint
        }
        // Events before the first activation concern no webhook.
        if checkpoint.after < since { checkpoint = WebhookCheckpoint(after: since) }
        let page: WebhookEventPage
        do {
            page = try await store.webhookEvents(
                after: checkpoint, to: wanted(by: webhooks), limit: Self.batchSize, in: application)
        } catch Rejection.positionGone(let oldest) {
            // The reader was behind for longer than the log is kept: those events are lost for
            // every webhook.
            let next = WebhookCheckpoint(after: LogPosition(oldest.number - 1))
            return try await store.enqueue(
                [], from: stored, to: next, for: webhooks, in: application)
        }
        let drafts = drafts(of: page, for: webhooks) { event, webhook in event.isFor(webhook) }
        let endsRange = webhooks.contains { webhook in
            webhook.unread.contains { range in range.through <= page.next.after }
        }
        if drafts.isEmpty, !endsRange, let stored,
            page.next.after.number - stored.after.number < Self.checkpointInterval
        {
            ahead.withLock { ahead in
                ahead = Ahead(stored: stored, webhooks: webhooks, checkpoint: page.next)
            }
            return page.isCut
        }
        let isStored = try await store.enqueue(
            drafts, from: stored, to: page.next, for: webhooks, in: application)
        if isStored { onDeliveries(Array(Set(drafts.map(\.webhook)))) }
        return page.isCut || !isStored
    }

    /// Creates the deliveries of one batch of the oldest replay.
    ///
    /// - Returns: Whether more is to be replayed.
    private func replay() async throws -> Bool {
        guard let replay = try await store.nextReplay(in: application) else {
            return false
        }
        let webhooks = try await store.webhookSubscriptions(in: application)
            .filter { subscription in subscription.webhook.id == replay.webhook }
        guard !webhooks.isEmpty else { return false }
        do {
            let page = try await store.webhookEvents(
                after: replay.checkpoint, through: replay.through, to: wanted(by: webhooks),
                limit: Self.batchSize, in: application)
            let drafts = drafts(of: page, for: webhooks) { event, subscription in
                event.isWanted(by: subscription.webhook)
            }
            try await store.enqueue(
                drafts, of: replay, to: page.isCut ? page.next : nil, in: application)
        } catch Rejection.positionGone {
            try await store.enqueue([], of: replay, to: nil, in: application)
        }
        onDeliveries([replay.webhook])
        return true
    }

    private func wanted(by webhooks: [WebhookSubscription]) -> [WebhookVersion: Set<WebhookTopic>] {
        webhooks.map(\.webhook).reduce(into: [:]) { wanted, webhook in
            wanted[webhook.payloadVersion, default: []].formUnion(webhook.topics)
        }
    }

    private func drafts(
        of page: WebhookEventPage, for webhooks: [WebhookSubscription],
        where concerns: (WebhookEvent, WebhookSubscription) -> Bool
    ) -> [DeliveryDraft] {
        page.events.flatMap { event in
            let body = renderer.body(of: event, in: application)
            return webhooks.filter { subscription in concerns(event, subscription) }.map {
                subscription in
                let webhook = subscription.webhook
                return DeliveryDraft(
                    webhook: webhook.id, event: event.id,
                    type: WebhookTopicJSON.text(event.topic, webhook.payloadVersion),
                    position: event.position, conversation: event.conversation,
                    trace: event.trace, body: WebhookRenderer.body(body, for: webhook))
            }
        }
    }
}
