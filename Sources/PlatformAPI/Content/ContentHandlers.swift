import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Uploads

extension RequestContext {
    /// `POST /conversations/{C}/content` (platform-api §5.4): headers state the type, length and file name.
    func createContent() async throws -> Reply {
        let type = try uploadType()
        let length = try uploadLength()
        let requestedID = try conversation()
        // The winner's id, if the path names the conversation by an alias (X1.2).
        let conversation = try await store.requireWritable(requestedID, in: application)
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
            .addingContentLocation(id, in: conversation, requestedIn: requestedID, links)
    }

    /// `POST /users/{u}/content` (client-api §4.5): the content belongs to no conversation until a message attaches it
    /// (ruling 18).
    func createContentOfUser() async throws -> Reply {
        let type = try uploadType()
        let length = try uploadLength()
        let user = try user()
        try await store.requireUploader(user, in: application)
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

    /// The media type in `Upload-Content-Type`: text on both sides of a `/` (R21).
    private func uploadType() throws(Rejection) -> String {
        guard let type = request.fields["Upload-Content-Type"], !type.isEmpty else {
            throw .missing("Upload-Content-Type")
        }
        guard (try? MessagePart.Draft(mimeType: type, body: .inline([]))) != nil else {
            throw .invalid("Upload-Content-Type", .uploadType)
        }
        return type
    }

    /// The file name of downloads (uploads §9.7); `nil` also for a header that cannot be parsed.
    private var fileName: String? {
        request.fields["Content-Disposition"].flatMap(ContentDisposition.fileName)
    }

    /// The length in bytes: decimal digits only, from 0 to the largest upload (rulings 9, 35).
    private func uploadLength() throws(Rejection) -> Int64 {
        guard let text = request.fields["Upload-Content-Length"], !text.isEmpty else {
            throw .missing("Upload-Content-Length")
        }
        let limit = store.limits.messageBytes
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalid("Upload-Content-Length", .uploadLength)
        }
        // A number that does not fit 64 bits is above every limit.
        guard let length = Int64(text), length <= limit else {
            throw .invalid("Upload-Content-Length", .uploadLengthLimit, .init(limit: Int(limit)))
        }
        return length
    }
}

extension RequestContext {
    /// `GET /conversations/{C}/content/{uuid}` (platform-api §5.4): a new `download_url`; with `dl=1` browsers save
    /// what it opens. With `include=transfer` it also answers before the upload is complete (X7).
    func readContent() async throws -> Reply {
        let (showsTransfer, saves) = (try showsTransfer(), try saves())
        let requestedID = try conversation()
        if showsTransfer {
            // The upload may have begun under another id of the conversation (X1.2).
            let names = try await store.names(of: requestedID, in: application)
            let owners = Set(
                names.map { name in
                    UploadOwner(application: application.uuid, conversation: name.uuid)
                })
            if let reply = try await uploadProgressReply(where: owners.contains) {
                return reply.addingContentLocation(
                    try content(), in: names.first ?? requestedID, requestedIn: requestedID, links)
            }
        }
        let content = try await store.content(content(), in: requestedID, in: application)
        // The winner's id, if the path names the conversation by an alias (X1.2).
        return reply(content, showsTransfer, saving: saves, .system)
            .addingContentLocation(
                content.id, in: content.conversation ?? requestedID, requestedIn: requestedID, links
            )
    }

    /// `GET /content/{uuid}` (extensions, precedence 5): any content of the application, also one created through
    /// `/uploads`, which belongs to no conversation until a message attaches it (ruling 18). With `include=transfer` it
    /// also answers before the upload is complete (X7).
    func readContentOfApplication() async throws -> Reply {
        let (showsTransfer, saves) = (try showsTransfer(), try saves())
        if showsTransfer {
            let application = application.uuid
            let reply = try await uploadProgressReply(where: { $0.application == application })
            if let reply { return reply }
        }
        let content = try await store.content(content(), in: nil, in: application)
        return reply(content, showsTransfer, saving: saves, .system)
    }

    /// `GET /users/{u}/content/{uuid}` (client-api §4.5, R86): for the user that uploaded it, and for users that see a
    /// message that attaches it. With `include=transfer` its uploader also gets an answer before the upload is complete
    /// (X7).
    func readContentOfUser() async throws -> Reply {
        let (showsTransfer, saves) = (try showsTransfer(), try saves())
        let user = try user()
        if showsTransfer {
            try await store.requireUser(user, in: application)
            let owner = UploadOwner(application: application.uuid, user: user.text)
            if let reply = try await uploadProgressReply(where: { $0 == owner }) { return reply }
        }
        let content = try await store.content(content(), seenBy: user, in: application)
        return reply(content, showsTransfer, saving: saves, .user(user))
    }

    /// Returns whether the answer shows the progress of uploads (X7).
    func showsTransfer() throws -> Bool {
        try query.isSet("include", to: "transfer", .contentInclude)
    }

    /// Returns whether browsers save the content instead of showing it (uploads §9.6).
    private func saves() throws -> Bool {
        switch query["dl"] {
        case nil: return false
        case "1"?: return true
        default: throw Rejection.invalid("dl", .contentDownload)
        }
    }

    private func reply(
        _ content: Messaging.Content, _ showsTransfer: Bool, saving: Bool,
        _ perspective: Perspective
    ) -> Reply {
        let presentation = presentation(perspective, saving: saving)
        let transfer = TransferJSON(.ready, received: content.size, sha256: content.sha256)
        var writer = JSONWriter()
        ContentJSON(id: content.id, size: content.size, in: content.conversation)
            .write(
                presentation.links, presentation.sign(content.id),
                showsTransfer ? transfer : nil, into: &writer)
        return Reply(.ok, writer.finish())
    }

    /// Returns the progress of the upload of a content; `nil` when there is none, when it has another owner, or when it
    /// is complete.
    private func uploadProgressReply(
        where isOwner: (UploadOwner) -> Bool
    ) async throws -> Reply? {
        let id = try content()
        let progress: UploadProgress?
        do throws(UploadError) {
            progress = try await api.uploads.progress(of: id.uuid)
        } catch {
            throw try APIError(error, api.uploads)
        }
        guard let progress, isOwner(progress.owner) else { return nil }
        let status: TransferStatus
        switch progress.stage {
        case .awaited: status = .awaitingUpload
        case .arriving: status = .uploading
        case .failed: status = .failed
        case .expired: status = .expired
        case .complete: return nil
        }
        var writer = JSONWriter()
        ContentJSON.write(
            id, size: progress.length, TransferJSON(status, received: progress.received),
            into: &writer)
        return Reply(.ok, writer.finish())
    }
}
