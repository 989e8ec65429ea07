import Blobs
import HTTP
import Locking
import TestSupport
import Testing

@testable import Uploads

@Suite struct `A signed download URL` {
    private let shelf = Shelf()

    @Test func `lives two hours, rounded up to a quarter (9.6)`() {
        let (url, expires) = shelf.downloads.signedURL(
            content: Shelf.id, fileName: "a b.png", at: Shelf.now)
        #expect(expires == Shelf.now + 8_000_000)
        #expect(expires % 900_000 == 0)
        #expect(url.hasPrefix("https://chat.example/download/\(Shelf.id)/a%20b.png?exp="))
        let again = shelf.downloads.signedURL(
            content: Shelf.id, fileName: "a b.png", at: Shelf.now + 100_000)
        #expect(again.url == url)
    }

    @Test func `works until a minute after its end, then says expired (9.6)`() async throws {
        let url = shelf.url
        shelf.time.withLock { $0 = Shelf.now + 8_060_000 }
        #expect(await shelf.send(.get, url).status == .ok)
        shelf.time.withLock { $0 += 1000 }
        let answer = await shelf.send(.get, url)
        #expect(answer.status == .forbidden)
        #expect(answer.text.contains("expired"))
        #expect(answer.fields["Cache-Control"] == "no-store")
        #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
    }

    @Test(arguments: 0..<200) func `opens nothing once one character changed (9.6)`(
        number: Int
    ) async {
        var url = Array(shelf.url.utf8)
        let first = "https://chat.example/download/".utf8.count
        let place = first + number % (url.count - first)
        url[place] = url[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        let answer = await shelf.send(.get, String(decoding: url, as: UTF8.self))
        #expect(answer.status == .forbidden)
        #expect(shelf.asked.withLock { $0 } == 0)
    }

    @Test(arguments: ["", "?exp=1", "?kid=x&sig=y", "?exp=99999999999&kid=zzzz&sig=AAAA"])
    func `without all its parts opens nothing (9.6)`(query: String) async {
        let answer = await shelf.send(.get, "/download/\(Shelf.id)/a.png\(query)")
        #expect(answer.status == .forbidden)
        #expect(shelf.asked.withLock { $0 } == 0)
    }

    @Test func `cannot be made a forced download by adding dl (9.6)`() async {
        #expect(await shelf.send(.get, shelf.url + "&dl=1").status == .forbidden)
        let ticket = DownloadTicket(
            content: Shelf.id, fileName: "a.png", expires: Shelf.now / 1000 + 60,
            forcesAttachment: true)
        let answer = await shelf.send(.get, ticket.signed(by: shelf.keys))
        #expect(answer.fields["Content-Disposition"]?.hasPrefix("attachment") == true)
    }

    @Test func `is believed with either key, not with a stranger's (9.6, H210)`() async throws {
        let second = SigningKeys(keys: Array(shelf.keys.keys.reversed()))
        let ticket = DownloadTicket(
            content: Shelf.id, fileName: "a.png", expires: Shelf.now / 1000 + 60)
        #expect(await shelf.send(.get, ticket.signed(by: second)).status == .ok)
        let stranger = try SigningKeys.random()
        #expect(await shelf.send(.get, ticket.signed(by: stranger)).status == .forbidden)
    }

    @Test func `opens GET and HEAD only (9.1, 9.6)`() async {
        let answer = await shelf.send(.put, shelf.url)
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.fields["Allow"] == "GET, HEAD, OPTIONS")
        #expect(await shelf.send(.options, shelf.url).status == .noContent)
    }

    @Test func `keys survive a restart and stay secret (9.6)`() throws {
        let folder = TemporaryFolder()
        let first = try SigningKeys.load(folder: folder.path)
        #expect(first.keys.count == 2)
        #expect(try SigningKeys.load(folder: folder.path).keys == first.keys)
    }
}
