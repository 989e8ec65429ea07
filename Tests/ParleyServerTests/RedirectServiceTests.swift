import HTTP
import Testing

@testable import ParleyServer

@Suite struct `Redirects to TLS` {
    @Test func `go to the configured host, whatever a request names (H173)`() throws {
        let service = RedirectService(to: "https://chat.example.com")
        let request = Request(
            method: .get, target: RequestTarget("/a%20b?c=d"), fields: Fields([("Host", "evil")]))
        guard case .response(let response) = service.answer(to: request).outcome else {
            Issue.record("no answer")
            return
        }
        #expect(response.status.code == 308)
        #expect(response.fields["Location"] == "https://chat.example.com/a%20b?c=d")
    }

    @Test func `need a public URL with https`() {
        let scratch = SettingsReader(
            SettingsSources(flags: [.init("tls.redirect_listen", "127.0.0.1:8081", name: "--set")]))
        #expect(
            scratch.mistakes.map(\.rule) == [
                "tls.redirect_listen needs a public_url that begins with https://"
            ])
    }
}
