import Messaging
import MessagingStore
import Uploads

/// Records finished uploads in the messaging store, and looks contents up for downloads.
///
/// It is here because Uploads must not depend on MessagingStore.
struct DatabaseContentCatalog: UploadFinisher, DownloadCatalog {
    let store: MessagingStore

    func finished(_ upload: FinishedUpload, within quota: Int64?) async throws {
        // The server itself wrote the ids into the record; an upload with invalid ones can never be
        // finished.
        guard let id = Content.ID(uuid: upload.contentID),
            let application = Application.ID(uuid: upload.owner.application)
        else { throw ContentRefused() }
        let stored = upload.content
        let content = Content(
            id: id,
            conversation: upload.owner.conversation.flatMap { text in Conversation.ID(uuid: text) },
            mimeType: stored.mediaType, size: stored.size, fileName: stored.fileName,
            sha256: stored.sha256, crc32c: stored.crc32c, md5: stored.md5, sha512: stored.sha512,
            completedAt: Timestamp(milliseconds: stored.completedAtMilliseconds),
            origin: stored.origin)
        let fits: Bool
        do {
            fits = try await store.finishUpload(
                content,
                by: Perspective(upload.owner.user.flatMap { text in UserID(stored: text) }),
                within: quota, in: application)
        } catch is Rejection {
            // The conversation was deleted during the upload, or its user is being erased.
            throw ContentRefused()
        }
        guard fits else { throw QuotaExceeded() }
    }

    func withdraw(_ contentID: String) async throws -> Bool {
        guard let id = Content.ID(uuid: contentID) else { return true }
        return try await store.withdrawContent(id)
    }

    func abandoned(unusedSince moment: Int64, limit: Int) async throws -> [AbandonedContent] {
        try await store.withdrawUnusedContents(
            completedBefore: Timestamp(milliseconds: moment), limit: limit)
        return try await store.droppedContents(limit: limit).map { content in
            AbandonedContent(application: content.application.uuid, contentID: content.id.uuid)
        }
    }

    func erased(_ contents: [AbandonedContent]) async throws {
        for (name, contents) in Dictionary(grouping: contents, by: \.application) {
            guard let application = Application.ID(uuid: name) else { continue }
            try await store.eraseContents(
                contents.compactMap { content in Content.ID(uuid: content.contentID) },
                in: application)
        }
    }

    func storedBytes(of application: String, besides contentID: String?) async throws -> Int64 {
        guard let application = Application.ID(uuid: application) else { return 0 }
        let sum = try await store.contentBytes(in: application)
        guard let id = contentID.flatMap({ id in Content.ID(uuid: id) }),
            let content = try await store.signedContent(id)
        else { return sum }
        return sum - content.size
    }

    func content(_ id: String) async throws -> StoredContent? {
        guard let id = Content.ID(uuid: id) else { return nil }
        guard let content = try await store.signedContent(id) else {
            return try await archive(Export.ID(id))
        }
        return StoredContent(
            mediaType: content.mimeType, size: content.size, sha256: content.sha256,
            md5: content.md5, sha512: content.sha512, crc32c: content.crc32c,
            fileName: content.fileName,
            completedAtMilliseconds: content.completedAt.milliseconds, origin: content.origin)
    }

    /// The archive of an export is stored among the contents, under the export's id.
    private func archive(_ id: Export.ID) async throws -> StoredContent? {
        guard let export = try await store.signedExport(id), let archive = export.archive,
            let completedAt = export.completedAt
        else { return nil }
        return StoredContent(
            mediaType: "application/octet-stream", size: archive.size, sha256: archive.sha256,
            md5: nil, sha512: nil, crc32c: archive.crc32c, fileName: "export.tar.gz.enc",
            completedAtMilliseconds: completedAt.milliseconds, origin: nil,
            archive: ArchiveFile(id: id.uuid, attempt: archive.initialVector))
    }
}

extension StoreEnvironment {
    /// Creates a time-ordered content id; an upload needs it before the store has the content.
    func newContentID() -> Content.ID {
        let random = randomBytes(16).reduce(UInt128(0)) { bits, byte in bits << 8 | UInt128(byte) }
        return .v7(at: now(), random: random)
    }
}
