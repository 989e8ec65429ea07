internal import HTTP
internal import JSON

/// The error object of the upload and download resources (§3.9).
enum ErrorJSON {
    /// `{"error":{"code":…,"message":…,"errors":[{"domain":…,"reason":…,"message":…}]}}`
    static func bytes(
        _ status: Status, reason: String, message: String, domain: String = "upload"
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("error")
            writer.object { writer in
                writer.member("code", status.code)
                writer.member("message", message)
                writer.key("errors")
                writer.array { writer in
                    writer.object { writer in
                        writer.member("domain", domain)
                        writer.member("reason", reason)
                        writer.member("message", message)
                    }
                }
            }
        }
        return writer.finish()
    }
}
