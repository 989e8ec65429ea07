import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The feed of the user of a session (X13).
    static let feed = Endpoint(
        .get, "/events", "Lists or streams what has changed for the user.", isCompressed: true,
        takesTokenFromQuery: true, family: .client, versions: [.v3_0],
        .eventStream(
            { context in try await context.streamFeed() },
            else: { context in try await context.readFeed() })
    ) { _ in
        Operation(
            "readFeed",
            query: [
                Parameter(
                    "after", .string,
                    "The cursor of the last answer; without it, everything that the user sees."),
                Parameter(
                    "history", .pattern("([0-9]+|unread|all)"),
                    "How many messages of a conversation that is new to the client; 25 by default."),
                Parameter(
                    "limit", .integer(1...Int64.max),
                    "The number of items; 100 by default, at most 1000."),
                Parameter(
                    "wait", .integer(0...Int64.max),
                    "Seconds to wait for a change when there is none; 60 at most."),
                Parameter(
                    "session_token", .string,
                    "The session token, for clients that cannot set headers."),
            ],
            answers: [
                .ok(
                    .named(
                        "FeedPage",
                        .object([
                            .required("items", .array(of: FeedItemJSON.schema)),
                            .required("cursor", .string),
                            .required("more", .boolean),
                            .required("reset", .boolean),
                        ])), "Objects as they are now, and the cursor to continue after.")
            ],
            example: Example(query: [("history", "25"), ("limit", "10")]))
    }
}

extension RequestContext {
    /// `GET /events` (Y1).
    func readFeed() async throws -> Reply {
        let query = try FeedQuery(query)
        guard query.wait > 0 else { return try reply(await page(query.after, query)) }
        // A request that waits counts as a stream.
        let slot = try streamSlot(retryAfter: 1)
        defer { withExtendedLifetime(slot) {} }
        var end = api.clock().milliseconds + query.wait
        if let expiry = caller.expiresAt { end = min(end, expiry.milliseconds) }
        var cursor = query.after
        while true {
            let page = try await page(cursor, query)
            let remaining = end - api.clock().milliseconds
            guard page.entries.isEmpty, !page.isCut, !page.isReset, remaining > 0,
                !Task.isCancelled
            else { return try reply(page) }
            cursor = page.cursor
            // An end before the page is not reported while the request waits.
            let exists = try await store.hasSession(Session.ID(caller.id), in: application)
            guard exists,
                await !api.liveFeeds.feed(of: application).wait(
                    for: try user(), session: caller.id, past: page.end, atMost: remaining)
            else { throw try await api.challenge(.unknown) }
        }
    }

    private func page(_ cursor: FeedCursor?, _ query: FeedQuery) async throws -> FeedPage {
        try await store.feed(
            of: try user(), after: cursor, history: query.history, limit: query.limit,
            in: application)
    }

    private func reply(_ page: FeedPage) throws -> Reply {
        // The items hold signed links, which compression could reveal (H115).
        secrets.note()
        let items = try feedEncoder().json(page.entries)
        var writer = JSONWriter(capacity: items.reduce(128) { $0 + $1.count })
        writer.object { writer in
            writer.key("items")
            writer.array { writer in for json in items { writer.raw(json) } }
            writer.member("cursor", page.cursor.text)
            writer.member("more", page.isCut)
            writer.member("reset", page.isReset)
        }
        return Reply(.ok, writer.finish())
    }

    private func feedEncoder() throws -> FeedEncoder {
        FeedEncoder(try connection())
    }

    private func connection() throws -> UserConnection {
        UserConnection(of: try user(), version: version, in: application, request, api)
    }

    /// `GET /events` with `Accept: text/event-stream` (Y1, H151–H158).
    func streamFeed() async throws -> EventStream {
        let query = try FeedQuery(query, lastEventID: try lastEventID())
        let slot = try streamSlot(retryAfter: 60)
        // Frames hold signed links, and each client's own compression would cost more than it saves.
        secrets.note()
        let feed = FeedStream(
            session: caller.id, after: query.after, history: query.history, try connection())
        let stream = EventStream(feed, settings: .feed, slot: slot)
        if let end = caller.expiresAt {
            stream.expire(in: max(0, end.milliseconds - api.clock().milliseconds))
        }
        return stream
    }
}

extension EventStreamSettings {
    /// Those of feeds: a comment every 25 seconds, and a client that is more than 256 KiB behind is disconnected.
    fileprivate static var feed: EventStreamSettings {
        var settings = EventStreamSettings()
        settings.heartbeat = 25_000
        settings.maximumQueueBytes = 256 << 10
        return settings
    }
}
