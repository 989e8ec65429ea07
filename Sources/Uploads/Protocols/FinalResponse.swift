internal import Bytes
internal import HTTP
internal import JSON

/// The final response of protocols A and D (§5.6): made once, stored, and sent again byte for byte.
enum FinalResponse {
    /// Makes the response for content that has just become complete.
    static func stored(_ upload: FinishedUpload) -> StoredFinalResponse {
        let content = upload.content
        let crc32c = text(crc32c: content.crc32c)
        let md5 = content.md5.map(Base64.encode)
        let etag = String(hexadecimal: content.sha256)
        let time = ISO8601.text(content.completedAtMilliseconds)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("kind", "storage#object")
            writer.member("id", upload.contentID)
            writer.member("name", content.fileName ?? upload.contentID)
            writer.member("size", "\(content.size)")
            writer.member("contentType", content.mediaType)
            // Clients that verify fail on a missing key, others on a null one.
            if let md5 { writer.member("md5Hash", md5) }
            writer.member("crc32c", crc32c)
            writer.member("etag", etag)
            writer.member("generation", "1")
            writer.member("metageneration", "1")
            writer.member("timeCreated", time)
            writer.member("updated", time)
        }
        return StoredFinalResponse(
            etag: "\"\(etag)\"", hashes: hashes(crc32c: content.crc32c, md5: content.md5),
            size: content.size, body: writer.finish())
    }

    /// The value of `X-Goog-Hash`.
    static func hashes(crc32c: UInt32, md5: [UInt8]?) -> String {
        let first = "crc32c=\(text(crc32c: crc32c))"
        return md5.map { "\(first),md5=\(Base64.encode($0))" } ?? first
    }

    private static func text(crc32c: UInt32) -> String {
        Base64.encode(CRC32C(resuming: crc32c).digest)
    }

    /// The status is 200, because one client library accepts only 200 and 308.
    static func response(_ answer: StoredFinalResponse) -> Response {
        var response = Response(.ok, "application/json; charset=UTF-8", answer.body)
        response.fields.add("ETag", answer.etag)
        response.fields.add("X-Goog-Hash", answer.hashes)
        response.fields.add("X-Goog-Stored-Content-Length", "\(answer.size)")
        response.fields.add("X-Goog-Generation", "1")
        return response
    }
}
