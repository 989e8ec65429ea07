import HTTP
import PlatformAPI

/// The table of the article Endpoints, made of the declarations that the routers read.
enum EndpointTable {
    static var markdown: String {
        (["| Method | Path | What it does |", "|---|---|---|"] + pages + platform + transfers)
            .joined(separator: "\n")
    }

    private static let pages = ServerService.Page.allCases.map { page in
        row("GET", "\(page.path)", page.summary)
    }

    private static let platform = Endpoint.all.map { endpoint in
        row(endpoint.method.rawValue, "\(endpoint.path)", endpoint.summary)
    }

    /// The addresses that are handed out instead of being put together.
    private static let transfers = [
        row(
            "POST", "/uploads",
            "Creates an upload in the way of its protocol; `Parley-Content-Id` names the content."),
        row(
            "PUT", "/uploads/{token}",
            "Takes a content, whole or in pieces, and says how much is there."),
        row(
            "PATCH", "/uploads/{token}",
            "Takes the next piece, from clients of tus 1.0.0 and of Resumable Uploads for HTTP."),
        row("GET", "/uploads/{token}", "Says how much is there, and disturbs nobody who sends."),
        row("DELETE", "/uploads/{token}", "Gives an upload up."),
        row(
            "GET", "/download/{content}/{filename}",
            "Gives a content or ranges of it, until the URL expires."),
    ]

    private static func row(_ method: String, _ path: String, _ summary: String) -> String {
        "| `\(method)` | `\(path)` | \(summary) |"
    }
}
