import Testing

@testable import Telemetry

@Suite struct `Secrets in the log` {
    @Test(arguments: [
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer …"),
        ("BASIC dXNlcjpwYXNz rest", "BASIC … rest"),
        ("GET /apps/a?token=abc HTTP/1.1", "GET /apps/a?… HTTP/1.1"),
        ("PUT /uploads/0123456789abcdef HTTP/1.1", "PUT /uploads/012345… HTTP/1.1"),
        ("see https://x/download/short?sig=1", "see https://x/download/short?…"),
        ("ready? yes", "ready? yes"),
        ("bearer of news", "bearer … news"),
    ]) func `H208 are cut out of texts`(text: String, expected: String) {
        #expect(Redaction.filtered(text) == expected)
    }

    @Test(arguments: ["Authorization", "token", "Set-Cookie", "nonce"])
    func `H208 are hidden by the name of their field`(name: String) {
        #expect(Redaction.hides(name))
        #expect(!Redaction.hides("application"))
    }
}
