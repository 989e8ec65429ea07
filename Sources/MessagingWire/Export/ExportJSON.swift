import Base64
public import JSON
public import Messaging

/// An export as answers show it (platform-api §5.12).
public enum ExportJSON {
    /// Writes the object; what is not known yet, or no more, is `null`.
    ///
    /// - Parameter sign: Signs the download URL; called only where there is something to download.
    public static func write(
        _ export: Export, _ links: LinkBuilder,
        sign: (Export.ID) -> ContentJSON.SignedLink, into writer: inout JSONWriter
    ) {
        let archive = export.archive
        let link = archive != nil && export.expiredAt == nil ? sign(export.id) : nil
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(export.id, in: .exports))
            writer.member("type", type(of: export))
            writer.member("status", export.status.rawValue)
            writer.member("created_at", TimestampJSON.text(export.createdAt))
            writer.member("started_at", export.startedAt.map(TimestampJSON.text))
            writer.member("completed_at", export.completedAt.map(TimestampJSON.text))
            writer.member("expired_at", export.expiredAt.map(TimestampJSON.text))
            writer.member("public_key", Base64.encode(export.publicKey))
            writer.member("encrypted_aes_key", archive.map { Base64.encode($0.encryptedKey) })
            writer.member("aes_iv", archive.map { Base64.encode($0.initialVector) })
            writer.member("download_url", link?.url)
            writer.member(
                "download_url_expires_at", link.map { TimestampJSON.text($0.expiresAt) })
            writer.member("status_url", links.status(of: export.id))
        }
    }

    private static func type(of export: Export) -> String {
        switch export.scope {
        case .historical: "historical"
        case .scheduled: "scheduled"
        }
    }
}
