import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Uploads

extension RequestContext {
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
        request.fields["Content-Disposition"].flatMap(ContentDisposition.fileName)
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

extension RequestContext {
    /// `GET /conversations/{C}/content/{uuid}` (platform-api §5.4): a fresh `download_url`, which saves
    /// with `dl=1`; with `include=transfer` in every state (X7).
    func readContent() async throws -> Reply {
        let (showsTransfer, saves) = (try showsTransfer(), try saves())
        let asked = try conversation()
        if showsTransfer {
            // Its own id, should the path have named it by an alias; the upload may have begun under
            // another one (X1.2).
            let names = try await store.names(of: asked, in: application)
            let owners = Set(
                names.map { name in
                    UploadOwner(application: application.uuid, conversation: name.uuid)
                })
            if let reply = try await awaitedContent(where: owners.contains) {
                return reply.locating(
                    try content(), in: names.first ?? asked, askedIn: asked, links)
            }
        }
        let content = try await store.content(content(), in: asked, in: application)
        // The winner, should the path have named it by an alias (X1.2).
        return reply(content, showsTransfer, saving: saves, .system)
            .locating(content.id, in: content.conversation ?? asked, askedIn: asked, links)
    }

    /// `GET /content/{uuid}` (extensions, precedence 5): for content made through `/uploads`, which
    /// belongs to no conversation before a message attaches it (ruling 18), and for all other; with
    /// `include=transfer` in every state (X7).
    func readContentOfApplication() async throws -> Reply {
        let (showsTransfer, saves) = (try showsTransfer(), try saves())
        if showsTransfer {
            let mine = application.uuid
            let reply = try await awaitedContent(where: { $0.application == mine })
            if let reply { return reply }
        }
        let content = try await store.content(content(), in: nil, in: application)
        return reply(content, showsTransfer, saving: saves, .system)
    }

    /// `GET /users/{u}/content/{uuid}` (client-api §4.5, R86): for its uploader, and for whoever sees a
    /// message that attaches it; with `include=transfer` for its uploader in every state (X7).
    func readContentOfUser() async throws -> Reply {
        let (showsTransfer, saves) = (try showsTransfer(), try saves())
        let user = try user()
        if showsTransfer {
            try await store.requireUser(user, in: application)
            let owner = UploadOwner(application: application.uuid, user: user.text)
            if let reply = try await awaitedContent(where: { $0 == owner }) { return reply }
        }
        let content = try await store.content(content(), seenBy: user, in: application)
        return reply(content, showsTransfer, saving: saves, .user(user))
    }

    /// Whether the answer is to say how far contents have come (X7).
    func showsTransfer() throws -> Bool {
        switch query["include"] {
        case nil: return false
        case "transfer"?: return true
        default: throw Rejection.invalid("include", .contentInclude)
        }
    }

    /// Whether browsers are to save what the URL opens, also what they could show
    /// (uploads §9.6).
    private func saves() throws -> Bool {
        switch query["dl"] {
        case nil: return false
        case "1"?: return true
        default: throw Rejection.invalid("dl", .contentDownload)
        }
    }

    private func reply(
        _ content: Messaging.Content, _ showsTransfer: Bool, saving: Bool,
        _ perspective: LinkBuilder.Perspective
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

    /// How far the upload of a content has come; `nil` when there is none, when its owner is another,
    /// or when it is a content by now.
    private func awaitedContent(
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

extension Downloads {
    /// What signs download URLs as of a moment.
    ///
    /// - Parameter request: The request in whose answer they stand; `nil` for none.
    func signing(
        at now: Timestamp, saving: Bool = false, for request: Request? = nil
    ) -> @Sendable (Messaging.Content.ID) -> ContentJSON.SignedLink {
        { id in
            let signed = self.signedURL(
                content: id.uuid, fileName: nil, at: now.milliseconds, saving: saving,
                for: request)
            return ContentJSON.SignedLink(
                url: signed.url,
                expiresAt: Timestamp(milliseconds: signed.expiresAtMilliseconds))
        }
    }
}
