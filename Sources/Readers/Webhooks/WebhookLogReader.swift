internal import Messaging
internal import MessagingStore
internal import MessagingWire
internal import SystemSupport

/// Reads the log of one application for its webhooks and makes deliveries of it.
///
/// Its place and what it made are remembered together: after a crash nothing is missing and nothing is
/// there twice.
final class WebhookLogReader: Sendable {
    let wakeSignal = WakeSignal()
    private let application: Application.ID
    private let store: MessagingStore
    private let renderer: WebhookRenderer
    private let onFault: @Sendable (any Error) -> Void
    /// Tells that there is something to send to some webhooks.
    private let onDeliveries: @Sendable ([Webhook.ID]) -> Void
    private let isStopping = Locked(false)
    /// How far it has read beyond what is remembered, where nothing was to be told.
    private let ahead = Locked<Ahead?>(nil)

    private struct Ahead: Sendable {
        let remembered: WebhookCheckpoint
        let webhooks: [WebhookSubscription]
        let place: WebhookCheckpoint
    }

    /// Occurrences of one stretch: with 50 webhooks it makes 3,200 rows.
    private static let stretch = 64
    /// So many events may pass that concern no webhook before the place is remembered.
    private static let stride: Int64 = 1000
    /// Milliseconds between two looks though nobody rang.
    private static let (breath, patience): (Int64, Int64) = (1000, 5000)

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

    /// ``run()`` ends with the stretch it is at.
    func stop() {
        isStopping.withLock { isStopping in isStopping = true }
        wakeSignal.signal()
    }

    /// Reads until it is stopped, and sees to what is to be replayed.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.listen() }
            while !Task.isCancelled, !isStopping.withLock({ $0 }) {
                do {
                    let isBehind = try await follow()
                    let isReplaying = try await replay()
                    if !isBehind, !isReplaying { await wakeSignal.wait(atMost: Self.patience) }
                } catch is CancellationError {
                    break
                } catch {
                    onFault(error)
                    // Cancelled while it waits, the loop ends.
                    await pause(milliseconds: Self.breath)
                }
            }
            group.cancelAll()
        }
    }

    /// Rings for each commit of the application.
    private func listen() async {
        var place = store.signal.latest(in: application) ?? .start
        while let latest = await store.signal.wait(past: place, in: application) {
            place = latest
            wakeSignal.signal()
        }
    }

    /// Reads a stretch.
    ///
    /// - Returns: Whether more of it is there now.
    private func follow() async throws -> Bool {
        let webhooks = try await store.webhookSubscriptions(in: application)
        guard let since = webhooks.compactMap(\.since).min() else { return false }
        let remembered = try await store.webhookCheckpoint(in: application)
        var place = remembered ?? WebhookCheckpoint(after: since)
        if let ahead = ahead.withLock({ $0 }), ahead.remembered == remembered,
            ahead.webhooks == webhooks
        {
            place = ahead.place
        }
        // What was before any of them was active concerns nobody.
        if place.after < since { place = WebhookCheckpoint(after: since) }
        let told: WebhookEventPage
        do {
            told = try await store.webhookEvents(
                after: place, to: wanted(by: webhooks), limit: Self.stretch, in: application)
        } catch Rejection.positionGone(let oldest) {
            // Nobody read for longer than the log is kept: what is gone is gone for everybody.
            let next = WebhookCheckpoint(after: LogPosition(oldest.number - 1))
            return try await store.enqueue(
                [], from: remembered, to: next, for: webhooks, in: application)
        }
        let drafts = drafts(of: told, for: webhooks) { message, webhook in message.isFor(webhook) }
        let endsStretch = webhooks.contains { webhook in
            webhook.unread.contains { stretch in stretch.through <= told.next.after }
        }
        if drafts.isEmpty, !endsStretch, let remembered,
            told.next.after.number - remembered.after.number < Self.stride
        {
            ahead.withLock { ahead in
                ahead = Ahead(remembered: remembered, webhooks: webhooks, place: told.next)
            }
            return told.isCut
        }
        let isKept = try await store.enqueue(
            drafts, from: remembered, to: told.next, for: webhooks, in: application)
        if isKept { onDeliveries(Array(Set(drafts.map(\.webhook)))) }
        return told.isCut || !isKept
    }

    /// Makes a stretch of the oldest replay into deliveries.
    ///
    /// - Returns: Whether there is more to replay.
    private func replay() async throws -> Bool {
        guard let replay = try await store.nextReplay(in: application) else {
            return false
        }
        let webhooks = try await store.webhookSubscriptions(in: application)
            .filter { told in told.webhook.id == replay.webhook }
        guard !webhooks.isEmpty else { return false }
        do {
            let told = try await store.webhookEvents(
                after: replay.place, through: replay.through, to: wanted(by: webhooks),
                limit: Self.stretch, in: application)
            let drafts = drafts(of: told, for: webhooks) { message, told in
                message.isWanted(by: told.webhook)
            }
            try await store.enqueue(
                drafts, of: replay, to: told.isCut ? told.next : nil, in: application)
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
        of told: WebhookEventPage, for webhooks: [WebhookSubscription],
        where concerns: (WebhookBody, WebhookSubscription) -> Bool
    ) -> [DeliveryDraft] {
        told.events.flatMap { event in
            let message = renderer.message(event, in: application)
            return webhooks.filter { told in concerns(message, told) }.map(\.webhook).map {
                webhook in
                DeliveryDraft(
                    webhook: webhook.id, event: message.id,
                    type: WebhookTopicJSON.text(message.topic, webhook.payloadVersion),
                    position: message.position, conversation: message.conversation,
                    trace: message.trace, body: message.body(for: webhook))
            }
        }
    }
}
