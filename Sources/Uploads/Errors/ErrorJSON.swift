internal import HTTP
internal import JSON

/// The error object of the upload and download resources (§3.9).
enum ErrorJSON {
    /// `{"id":…,"code":…,"message":…,"url":…,"error":{"code":…,"message":…,"errors":[…]}}`
    ///
    /// The outer members are those of every error of the server; `error` is the object that clients of the Google
    /// Cloud Storage protocol read, whose `code` is the status.
    ///
    /// - Parameter page: URL of the page that explains each error by its id.
    static func bytes(
        _ status: Status, _ kind: UploadErrorKind, reason: String, message: String,
        page: String, domain: String = "upload"
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", kind.rawValue)
            writer.member("code", kind.code)
            writer.member("message", message)
            writer.member("url", "\(page)#\(kind.rawValue)")
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
