import Foundation
import ParleyKit

// The examples of ParleyKit's articles, so that they compile. ``DocumentationTests`` compares them with the articles. What
// an application has beside a client stands for itself below.

private protocol ExampleBackend {
    func identityToken(for nonce: String) async throws -> String
}

private protocol ExampleTable {
    func performBatchUpdates(_ updates: () -> Void)
    func deleteSections(_ sections: IndexSet, with animation: ExampleAnimation)
    func insertSections(_ sections: IndexSet, with animation: ExampleAnimation)
    func deleteRows(at paths: [IndexPath], with animation: ExampleAnimation)
    func insertRows(at paths: [IndexPath], with animation: ExampleAnimation)
    func moveRow(at old: IndexPath, to new: IndexPath)
    func reloadRows(at paths: [IndexPath], with animation: ExampleAnimation)
}

private enum ExampleAnimation { case automatic, none }

extension IndexPath {
    // Of UIKit.
    fileprivate init(row: Int, section: Int) { self.init(indexes: [section, row]) }
}

private func show(_ value: Any?, of total: Int = 0) {}
private func showRetry(_ id: Message.ID, _ error: ParleyError) {}
private func showAsReadOnly() {}
private func log(_ text: String) {}
private func update(_ changes: [ObjectChange]) {}
private func notify(_ object: ObjectID) {}

// MARK: - ParleyKit

private enum GettingStarted {
    static func run(server: URL, folder: URL) async throws {
        let client = try await ParleyClient(
            Configuration(
                server: server, application: "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55", store: folder,
                developmentUser: "ana"))
        try await client.authenticate()
        client.connect()
        let conversation = try await client.newConversation(with: ["bo"])
        let message = try await client.send([.text("Hello")], to: conversation.id)
        try await client.waitUntilSent(message.id)
        let newest = Query<Message>(where: { $0.conversation == conversation.id })
        for try await set in client.results(newest, window: .last(20)) {
            for message in set.elements { print(message.parts.first?.text ?? "") }
            try await client.markAsRead(Set(set.elements.filter(\.isUnread).map(\.id)))
        }
    }
}

private func configure(
    _ myBackend: any ExampleBackend & Sendable, _ server: URL, _ application: String, _ folder: URL
) -> Configuration {
    let configuration = Configuration(server: server, application: application, store: folder) {
        nonce in
        try await myBackend.identityToken(for: nonce)
    }
    return configuration
}

private func summary(
    _ server: URL, _ application: String, _ folder: URL,
    _ myBackend: any ExampleBackend & Sendable
) async throws {
    let client = try await ParleyClient(
        Configuration(server: server, application: application, store: folder) { nonce in
            try await myBackend.identityToken(for: nonce)
        })
    try await client.authenticate()
    client.connect()
    let conversation = try await client.newConversation(with: ["bo"])
    try await client.send([.text("Hello")], to: conversation.id)
}

// MARK: - Offline

private func writeOffline(_ configuration: Configuration) async throws {
    let client = try await ParleyClient(configuration)
    let conversation = try await client.newConversation(with: ["bo"])
    try await client.send([.text("Written on a train")], to: conversation.id)
    client.connect()
}

private func handleFailures(_ client: ParleyClient, _ id: Message.ID) async throws {
    for await failure in client.failures {
        if case .message(let id) = failure.object { showRetry(id, failure.error) }
    }

    try await client.retry(id)
    try await client.discard(id)
}

// MARK: - Errors

private func handleErrors(_ client: ParleyClient, _ conversation: Conversation.ID) async {
    do {
        try await client.send([.text("Hello")], to: conversation)
    } catch {
        if error.code == .notAParticipant { showAsReadOnly() } else { log(error.description) }
    }
}

// MARK: - MigratingFromLayerKit

private func migrate(_ client: ParleyClient, _ conversation: Conversation) async throws {
    client.connect()
    try await client.send([.text("Hello")], to: conversation.id)
}

// MARK: - RichContent

private func sendPhoto(
    _ client: ParleyClient, _ photo: URL, _ conversation: Conversation.ID
) async throws {
    try await client.send(
        [.text("From the beach"), .file(photo, mimeType: "image/jpeg")], to: conversation)
}

private func downloadContent(_ client: ParleyClient, _ part: MessagePart) async throws {
    let transfer = try await client.download(part.id)
    try await transfer.wait()
    if let content = try await client.content(of: part.id) {
        show(content.fileURL)
    }
}

private func downloadImages(_ configuration: inout Configuration) {
    configuration.autoDownload = AutoDownload(maximumSize: 200_000, types: ["image/*"])
}

private struct ExampleBar {
    var value = 0.0
}

private func showProgress(_ client: ParleyClient, _ part: MessagePart) async {
    var bar = ExampleBar()
    if let transfer = client.transfer(of: part.id) {
        for await progress in transfer.updates { bar.value = progress.fractionCompleted }
    }
    show(bar)
}

private func handleEvents(
    _ client: ParleyClient, _ identifier: String, _ completionHandler: () -> Void
) async throws {
    if let changes = try await client.handleBackgroundEvents(identifier) { update(changes) }
    completionHandler()
}

// MARK: - LiveQueries

private func findUnread(_ client: ParleyClient) async throws {
    let unread = Query<Conversation>(where: { $0.hasUnreadMessages == true })
    let conversations = try await client.fetch(unread)
    let number = try await client.count(unread)

    for try await set in client.results(unread) {
        show(set.elements, of: set.total)
    }
    show(conversations, of: number)
}

private func queries(_ id: Conversation.ID) -> [Query<Message>] {
    [
        Query<Message>(
            where: {
                $0.conversation == id && ($0.isUnread == true || $0.parts.mimeType.like("image/%"))
            },
            sort: { [$0.sentAt.descending] }, limit: 50),
        Query<Message>(where: { $0.conversation == id }, sections: { .day($0.sentAt, .current) }),
        Query<Message>(where: { $0.conversation == id }, sections: { .value($0.sender.userID) }),
        Query<Message>(where: {
            $0.conversation == id && ($0.isUnread == true || $0.parts.mimeType.like("image/%"))
        }),
        Query<Message>(
            where: { $0.conversation == id }, sort: { [$0.sentAt.descending] },
            sections: { .day($0.sentAt, .current) }),
    ]
}

private func showTable(
    _ client: ParleyClient, _ query: Query<Message>, _ table: any ExampleTable,
    _ shown: inout ResultSet<Message>
) async throws {
    for try await set in client.results(query, window: .last(50)) {
        var (deleted, inserted) = (IndexSet(), IndexSet())
        for change in set.changes {
            if case .deleteSection(let section) = change { deleted.insert(section) }
            if case .insertSection(let section) = change { inserted.insert(section) }
        }
        table.performBatchUpdates {
            shown = set
            table.deleteSections(deleted, with: .automatic)
            table.insertSections(inserted, with: .automatic)
            for change in set.changes {
                switch change {
                // The rows of a section that is deleted or inserted come with it.
                case .delete(let index) where !deleted.contains(index.section):
                    table.deleteRows(at: [path(index)], with: .automatic)
                case .insert(let index) where !inserted.contains(index.section):
                    table.insertRows(at: [path(index)], with: .automatic)
                case .move(let old, let new): table.moveRow(at: path(old), to: path(new))
                default: break
                }
            }
        }
        // A batch takes reloads by the indices before it; a set has those after it.
        table.reloadRows(
            at: set.changes.compactMap { change in
                if case .update(let index) = change { path(index) } else { nil }
            }, with: .none)
    }

    func path(_ index: ResultIndex) -> IndexPath {
        IndexPath(row: index.item, section: index.section)
    }
}

private func listConversations(_ client: ParleyClient) -> any Sendable {
    client.results(
        Query<Conversation>(), updating: ["lastMessage", "unreadCount", "metadata.title"])
}

@MainActor private func observe(_ client: ParleyClient, _ id: Conversation.ID) {
    let results = LiveResults(
        Query<Message>(where: { $0.conversation == id }), in: client, window: .last(50))
    results.window = .last(100)
}

private func followChanges(_ client: ParleyClient) async {
    for await changes in client.changes {
        for change in changes where change.kind == .created { notify(change.object) }
    }
}
