import Bytes
public import HTTP
import MessagingWire

/// The page to which the `url` of an error refers: one section for each row of the error table (ruling 32).
///
/// Static HTML without scripts and without external resources; the policy allows its one style element
/// by its hash.
public struct ErrorPage: Sendable {
    /// Where it is served, below the public base.
    public static let path: PathTemplate = "/docs/errors"

    private let html: [UInt8]
    private let tag: EntityTag
    private let policy: String

    init() {
        let html = Array(Self.document.utf8)
        self.html = html
        var sum = CRC32C()
        sum.update(html.span)
        tag = EntityTag(opaque: "\(String(sum.value, radix: 16))-\(html.count)")
        let hash = Base64.encode(SHA256.digest(of: Array(Self.style.utf8)))
        policy = """
            default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; \
            frame-ancestors 'none'
            """
    }

    /// Returns the page, or 304 for a client that has it.
    func response(to request: Request) -> Response {
        var fields = ResponseFields()
        fields.add("ETag", tag.text)
        // A client may store the page but must revalidate it: another release has other errors.
        fields.add("Cache-Control", "no-cache")
        let known = Preconditions(tag: tag, modified: nil)
        guard known.evaluate(request.method, request.fields, at: 0) != .notModified else {
            return Response(.notModified, fields: fields)
        }
        fields.add("Content-Type", "text/html; charset=UTF-8")
        fields.add("Content-Security-Policy", policy)
        fields.add("Referrer-Policy", "no-referrer")
        return Response(.ok, fields: fields, content: .bytes(html))
    }

    // MARK: - HTML

    private static let style = """
        body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;\
        color-scheme:light dark}
        code{font-family:ui-monospace,monospace}
        h2{margin:2rem 0 0;font-size:1.15rem}
        h2 a{color:inherit;text-decoration:none}
        section:target{outline:2px solid;outline-offset:.5rem}
        p{margin:.3rem 0}
        """

    private static var document: String {
        let sections = APIErrorKind.allCases
            .sorted { $0.row.code < $1.row.code }.map(section).joined(separator: "\n")
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Errors</title>
            <style>\(style)</style>
            </head>
            <body>
            <h1>Errors</h1>
            <p>An error answer is a JSON object: <code>id</code> and <code>code</code> name the error, \
            <code>message</code> says what is wrong with this request, and <code>data</code>, where it is \
            present, holds the member, the header or the object concerned.</p>
            \(sections)
            </body>
            </html>

            """
    }

    private static func section(_ error: APIErrorKind) -> String {
        let (id, code, status) = error.row
        let meaning = error.meaning.prefix(1).uppercased() + error.meaning.dropFirst()
        return """
            <section id="\(id)">
            <h2><a href="#\(id)"><code>\(id)</code></a></h2>
            <p>Code \(code), status \(status). \(text("\(meaning).")) \(text(error.remedy))</p>
            </section>
            """
    }

    /// Text as HTML: words between backticks become code.
    private static func text(_ text: String) -> String {
        var html = ""
        var isCode = false
        for character in text {
            switch character {
            case "`":
                html += isCode ? "</code>" : "<code>"
                isCode.toggle()
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            default: html.append(character)
            }
        }
        return html
    }
}
