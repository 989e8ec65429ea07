internal import Locking
internal import Messaging

/// Who is at work for which webhook and which application.
struct Crew: Sendable {
    var couriers: [Webhook.ID: Courier] = [:]
    var followers: [Application.ID: WebhookFollower] = [:]
    /// Webhooks whose targets are being asked.
    var asked: Set<Webhook.ID> = []
    var isStopping = false

    /// Who has to begin.
    struct Orders: Sendable {
        var couriers: [Webhook.ID: Courier] = [:]
        var followers: [Application.ID: WebhookFollower] = [:]
    }

    /// Puts the crew in order for the webhooks there are: some begin, some end, the others hear what changed.
    ///
    /// Who is ending keeps his place until he has: nothing of one conversation is sent by two.
    ///
    /// - Parameter behind: Applications whose log has still to be read for webhooks that are active no more.
    mutating func orders(
        for receivers: [Receiver], behind: Set<Application.ID>,
        _ makeCourier: (Receiver) -> Courier?,
        _ makeFollower: (Application.ID) -> WebhookFollower
    ) -> Orders {
        var orders = Orders()
        guard !isStopping else { return orders }
        let wanted = Set(receivers.map(\.webhook.id))
        for (id, courier) in couriers where !wanted.contains(id) { courier.stop() }
        for receiver in receivers {
            let id = receiver.webhook.id
            if let courier = couriers[id] {
                courier.bell.ring()
            } else if let courier = makeCourier(receiver) {
                couriers[id] = courier
                orders.couriers[id] = courier
            }
        }
        let applications = Set(receivers.map(\.application)).union(behind)
        for (id, follower) in followers where !applications.contains(id) { follower.stop() }
        for id in applications where followers[id] == nil {
            let follower = makeFollower(id)
            followers[id] = follower
            orders.followers[id] = follower
        }
        return orders
    }
}
