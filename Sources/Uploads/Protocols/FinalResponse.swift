internal import Bytes
internal import HTTP
internal import JSON

/// The final response of protocols A and D (§5.6): made once, stored, and sent again byte for byte.
enum FinalResponse {
    /// Makes the response for content that has just become complete.
    static func stored(_ upload: FinishedUpload) -> StoredResponse {
        let crc32c = text(crc32c: upload.crc32c)
        let md5 = upload.md5.map(Base64.encode)
        let etag = String(hexadecimal: upload.sha256)
        let time = InternetTime.withMilliseconds(upload.completedAtMilliseconds)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("kind", "storage#object")
            writer.member("id", upload.contentID)
            writer.member("name", upload.fileName ?? upload.contentID)
            writer.member("size", "\(upload.size)")
            writer.member("contentType", upload.mediaType)
            // Clients that verify fail on a missing key, others on a null one.
            if let md5 { writer.member("md5Hash", md5) }
            writer.member("crc32c", crc32c)
            writer.member("etag", etag)
            writer.member("generation", "1")
            writer.member("metageneration", "1")
            writer.member("timeCreated", time)
            writer.member("updated", time)
        }
        return StoredResponse(
            etag: "\"\(etag)\"", hashes: hashes(crc32c: upload.crc32c, md5: upload.md5),
            size: upload.size, body: writer.finish())
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
    static func response(_ answer: StoredResponse) -> Response {
        var response = Response(.ok, "application/json; charset=UTF-8", answer.body)
        response.fields.add("ETag", answer.etag)
        response.fields.add("X-Goog-Hash", answer.hashes)
        response.fields.add("X-Goog-Stored-Content-Length", "\(answer.size)")
        response.fields.add("X-Goog-Generation", "1")
        return response
    }
}

/// Formats a point in time as RFC 3339, in UTC.
enum InternetTime {
    /// `2030-01-01T00:00:00.000Z` from milliseconds since 1970.
    static func withMilliseconds(_ milliseconds: Int64) -> String {
        text(
            milliseconds, fraction: "." + padded(milliseconds - floor(milliseconds, 1000) * 1000, 3)
        )
    }

    /// `2030-01-01T00:00:00Z` from milliseconds since 1970.
    static func wholeSeconds(_ milliseconds: Int64) -> String { text(milliseconds, fraction: "") }

    private static func text(_ milliseconds: Int64, fraction: String) -> String {
        let seconds = floor(milliseconds, 1000)
        let days = floor(seconds, 86_400)
        let clock = seconds - days * 86_400
        // Days are counted in 400-year eras that begin on 1 March.
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let monthOfYear = month < 10 ? month + 3 : month - 9
        let date = [
            padded(year + era * 400 + (monthOfYear <= 2 ? 1 : 0), 4), padded(monthOfYear, 2),
            padded(dayOfYear - (153 * month + 2) / 5 + 1, 2),
        ].joined(separator: "-")
        let time = [clock / 3600, clock / 60 % 60, clock % 60].map { padded($0, 2) }
        return "\(date)T\(time.joined(separator: ":"))\(fraction)Z"
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
