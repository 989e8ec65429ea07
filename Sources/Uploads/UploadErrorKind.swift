internal import HTTP
internal import JSON

/// The `id` and `code` of a JSON error: those of the server's error table, which its error page explains (ruling
/// 32).
///
/// This module cannot import the module with the table; a test compares the two.
public enum UploadErrorKind: String, Sendable, CaseIterable {
    case serviceUnavailable = "service_unavailable"
    case authenticationRequired = "authentication_required"
    case invalidOperation = "invalid_operation"
    case invalidRequest = "invalid_request"
    case internalServerError = "internal_server_error"
    case accessDenied = "access_denied"
    case notFound = "not_found"
    case objectDeleted = "object_deleted"
    case invalidHeader = "invalid_header"
    case methodNotAllowed = "method_not_allowed"
    case versionMismatch = "version_mismatch"
    case rateLimited = "rate_limited"
    case quotaExceeded = "quota_exceeded"

    /// The number of the error in the table.
    public var code: Int {
        switch self {
        case .serviceUnavailable: 1
        case .authenticationRequired: 4
        case .invalidOperation: 9
        case .invalidRequest: 10
        case .internalServerError: 100
        case .accessDenied: 101
        case .notFound: 102
        case .objectDeleted: 103
        case .invalidHeader: 107
        case .methodNotAllowed: 109
        case .versionMismatch: 115
        case .rateLimited: 116
        case .quotaExceeded: 117
        }
    }
}

/// The error object of the upload and download resources (§3.9).
enum UploadErrorJSON {
    /// `{"id":…,"code":…,"message":…,"url":…,"error":{"code":…,"message":…,"errors":[…]}}`
    ///
    /// The outer members are those of every error of the server; `error` is the object that clients of the Google
    /// Cloud Storage protocol read, whose `code` is the status.
    ///
    /// - Parameters:
    ///   - page: URL of the page that explains each error by its id.
    ///   - nonce: Is shown in `data` for a new identity token; `nil` for none.
    static func bytes(
        _ status: Status, _ kind: UploadErrorKind, reason: String, message: String,
        page: String, domain: String = "upload", nonce: String? = nil
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", kind.rawValue)
            writer.member("code", kind.code)
            writer.member("message", message)
            writer.member("url", "\(page)#\(kind.rawValue)")
            if let nonce {
                writer.key("data")
                writer.object { writer in writer.member("nonce", nonce) }
            }
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
