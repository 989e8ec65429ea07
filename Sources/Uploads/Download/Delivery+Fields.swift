internal import Digests
internal import HTTP

extension Delivery {
    /// As declared; a stored type that could harm a header was replaced when it was stored, and
    /// once more here.
    var mediaType: String { MediaType(untrusted: content.mediaType).text }

    /// What stands on every 200 and 206, and on `HEAD` (§9.1, §9.7).
    func fields(for request: Request, _ type: String) -> ResponseFields {
        var fields = ResponseFields()
        fields.add("Content-Type", type)
        fields.add("Accept-Ranges", "bytes")
        addValidators(to: &fields)
        fields.addStoredContent(FileName(untrusted: content.fileName ?? ""), isInline: isInline)
        addReprDigest(to: &fields, for: request)
        fields.add(
            "X-Goog-Hash", FinalResponse.hashes(crc32c: content.crc32c, md5: content.md5))
        fields.add("X-Goog-Stored-Content-Length", "\(content.size)")
        fields.add("Cross-Origin-Resource-Policy", "cross-origin")
        return fields
    }

    /// What also stands on 304.
    func addValidators(to fields: inout ResponseFields) {
        let age = max(0, min(ticket.expires - now, 86_400))
        fields.add("ETag", tag.text)
        fields.add("Last-Modified", HTTPDate.format(content.completedAtMilliseconds / 1000))
        fields.add("Cache-Control", "private, max-age=\(age), immutable")
    }

    /// Made of the content alone, so it outlives URLs and restarts (H102).
    var tag: EntityTag { EntityTag(opaque: String(hexadecimal: content.sha256)) }

    /// Only what no browser runs is shown in place.
    private var isInline: Bool {
        let essence = MediaType(untrusted: content.mediaType).essence
        return !ticket.forcesAttachment && Delivery.shown.contains(essence)
    }

    private static let shown: Set = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp",
        "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/wav", "audio/webm",
        "audio/flac", "video/mp4", "video/webm", "video/ogg", "video/quicktime", "text/plain",
    ]
}
