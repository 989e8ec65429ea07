import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations/{C}/content/{uuid}` (platform-api §5.4): a fresh `download_url`.
    func readContent() async throws -> Reply {
        let asked = try conversation()
        let content = try await store.content(content(), in: asked, in: application)
        // The winner, should the path have named it by an alias (X1.2).
        let conversation = content.conversation ?? asked
        let presentation = presentation()
        var writer = JSONWriter()
        ContentJSON(id: content.id, size: content.size, in: conversation)
            .write(presentation.links, presentation.sign(content.id), into: &writer)
        return Reply(.ok, writer.finish())
            .locating(content.id, in: conversation, askedIn: asked, links)
    }

    /// `GET /users/{u}/content/{uuid}` (client-api §4.5, R86): for its uploader, and for whoever sees a
    /// message that attaches it.
    func readContentOfUser() async throws -> Reply {
        let user = try user()
        let content = try await store.content(content(), seenBy: user, in: application)
        let presentation = presentation(.user(user))
        var writer = JSONWriter()
        ContentJSON(id: content.id, size: content.size, in: content.conversation)
            .write(presentation.links, presentation.sign(content.id), into: &writer)
        return Reply(.ok, writer.finish())
    }
}
