internal import HTTPClient
internal import Locking
internal import Messaging

/// Makes the sender when the first webhook needs one: libcurl costs 7 ms and 6 MiB, and most servers call
/// nobody.
final class LazySender: Sendable {
    private let make: @Sendable () throws(HTTPClientError) -> WebhookSender
    private let made = Locked<WebhookSender?>(nil)

    init(
        _ settings: DeliverySettings, now: @escaping @Sendable () -> Timestamp,
        chance: @escaping @Sendable () -> Double
    ) {
        make = { () throws(HTTPClientError) in
            try WebhookSender(settings, now: now, chance: chance)
        }
    }

    /// The one sender.
    ///
    /// - Throws: `unavailable` where libcurl is not there; it is looked for again next time.
    func get() throws(HTTPClientError) -> WebhookSender {
        try made.withLock { made throws(HTTPClientError) in
            if let made { return made }
            let sender = try make()
            made = sender
            return sender
        }
    }
}
