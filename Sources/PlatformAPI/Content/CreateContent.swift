import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Uploads

extension Call {
    /// `POST /conversations/{C}/content` (platform-api §5.4): all is said in header fields.
    func createContent() async throws -> Reply {
        let type = try uploadType()
        let length = try uploadLength()
        let asked = try conversation()
        // Its own id, should the path have named it by an alias (X1.2).
        let conversation = try await store.requireWritable(asked, in: application)
        let id = api.newContentID()
        let url = try await upload(
            UploadDraft(
                owner: UploadOwner(
                    application: application.uuid, conversation: conversation.uuid),
                contentID: id.uuid, mediaType: type, length: length, fileName: fileName,
                origin: request.fields["Upload-Origin"]))
        var writer = JSONWriter()
        ContentJSON(id: id, size: length, in: conversation).write(uploadURL: url, into: &writer)
        return Reply(.created, writer.finish())
            .adding("Location", links.location(ofContent: id, in: conversation))
            .locating(id, in: conversation, askedIn: asked, links)
    }

    /// `POST /users/{u}/content` (client-api §4.5): bound to a conversation by the first message that
    /// attaches it (ruling 18).
    func createContentOfUser() async throws -> Reply {
        let type = try uploadType()
        let length = try uploadLength()
        let user = try user()
        try await store.requireUser(user, in: application)
        let id = api.newContentID()
        let url = try await upload(
            UploadDraft(
                owner: UploadOwner(application: application.uuid, user: user.text),
                contentID: id.uuid, mediaType: type, length: length, fileName: fileName,
                origin: request.fields["Upload-Origin"]))
        var writer = JSONWriter()
        ContentJSON(id: id, size: length, in: nil).write(uploadURL: url, into: &writer)
        return Reply(.created, writer.finish()).adding(
            "Location", links(.user(user)).location(ofContent: id))
    }

    private func upload(_ draft: UploadDraft) async throws -> String {
        do throws(UploadError) {
            return try await api.uploads.create(draft, for: request)
        } catch {
            throw try APIError(error, api.uploads)
        }
    }

    /// The media type: something on both sides of a `/` (R21).
    private func uploadType() throws(Rejection) -> String {
        guard let type = request.fields["Upload-Content-Type"], !type.isEmpty else {
            throw .missing("Upload-Content-Type")
        }
        guard (try? MessagePart.Draft(mimeType: type, body: .inline([]))) != nil else {
            throw .invalid("Upload-Content-Type", .uploadType)
        }
        return type
    }

    /// The name downloads are given (uploads §9.7): a wish, so one that cannot be read is none.
    private var fileName: String? {
        request.fields["Content-Disposition"].flatMap(DispositionName.read)
    }

    /// Bytes in decimal: digits only, 0 allowed, at most the largest upload (rulings 9, 35).
    private func uploadLength() throws(Rejection) -> Int64 {
        guard let text = request.fields["Upload-Content-Length"], !text.isEmpty else {
            throw .missing("Upload-Content-Length")
        }
        let limit = store.limits.messageBytes
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(text),
            length <= limit
        else {
            throw .invalid("Upload-Content-Length", .uploadLength, .init(limit: Int(limit)))
        }
        return length
    }
}
