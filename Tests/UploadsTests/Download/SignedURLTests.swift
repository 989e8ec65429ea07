import Blobs
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `A signed download URL` {
    private let fixture = DownloadFixture()

    @Test func `is valid for two hours, rounded up to a quarter of an hour (9.6)`() {
        let (url, expires) = fixture.downloads.signedURL(
            content: DownloadFixture.id, fileName: "a b.png", at: DownloadFixture.now)
        #expect(expires == DownloadFixture.now + 8_000_000)
        #expect(expires % 900_000 == 0)
        #expect(url.hasPrefix("https://chat.example/download/\(DownloadFixture.id)/a%20b.png?exp="))
        let again = fixture.downloads.signedURL(
            content: DownloadFixture.id, fileName: "a b.png", at: DownloadFixture.now + 100_000)
        #expect(again.url == url)
    }

    @Test func `works until a minute after its expiry, then is refused as expired (9.6)`()
        async throws
    {
        let url = fixture.url
        fixture.time.withLock { $0 = DownloadFixture.now + 8_060_000 }
        #expect(await fixture.send(.get, url).status == .ok)
        fixture.time.withLock { $0 += 1000 }
        let answer = await fixture.send(.get, url)
        #expect(answer.status == .forbidden)
        #expect(answer.text.contains("expired"))
        #expect(answer.fields["Cache-Control"] == "no-store")
        #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
    }

    @Test(arguments: 0..<200) func `is refused once any character is changed (9.6)`(
        number: Int
    ) async {
        var url = Array(fixture.url.utf8)
        let first = "https://chat.example/download/".utf8.count
        let index = first + number % (url.count - first)
        url[index] = url[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        let answer = await fixture.send(.get, String(decoding: url, as: UTF8.self))
        #expect(answer.status == .forbidden)
        #expect(fixture.asked.withLock { $0 } == 0)
    }

    @Test(arguments: ["", "?exp=1", "?kid=x&sig=y", "?exp=99999999999&kid=zzzz&sig=AAAA"])
    func `is refused without any of its parameters (9.6)`(query: String) async {
        let answer = await fixture.send(.get, "/download/\(DownloadFixture.id)/a.png\(query)")
        #expect(answer.status == .forbidden)
        #expect(fixture.asked.withLock { $0 } == 0)
    }

    @Test func `cannot be made a forced download by adding dl (9.6)`() async {
        #expect(await fixture.send(.get, fixture.url + "&dl=1").status == .forbidden)
        let saved = fixture.downloads.signedURL(
            content: DownloadFixture.id, fileName: "a.png", at: DownloadFixture.now, saving: true)
        #expect(saved.url.contains("&dl=1&sig="))
        let answer = await fixture.send(.get, saved.url)
        #expect(answer.fields["Content-Disposition"]?.hasPrefix("attachment") == true)
    }

    @Test func `is accepted with either key, not with another server's (9.6, H210)`() async throws {
        let second = try fixture.keys.rotated(.keeping(until: 0), at: 0)
        let ticket = DownloadTicket(
            content: DownloadFixture.id, fileName: "a.png", expires: DownloadFixture.now / 1000 + 60
        )
        #expect(
            await fixture.send(.get, ticket.signed(by: second, at: DownloadFixture.now)).status
                == .ok)
        let otherKeys = try SigningKeys.random()
        #expect(
            await fixture.send(.get, ticket.signed(by: otherKeys, at: DownloadFixture.now)).status
                == .forbidden)
    }

    @Test func `is valid for GET and HEAD only (9.1, 9.6)`() async {
        let answer = await fixture.send(.put, fixture.url)
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.fields["Allow"] == "GET, HEAD, OPTIONS")
        #expect(await fixture.send(.options, fixture.url).status == .noContent)
    }

    @Test func `is refused with a text that every page may read (9.6)`() async {
        let own = "https://own.example"
        let fixture = DownloadFixture(origin: own, allowing: ["https://other.example"])
        let forged = fixture.url + "x"
        for method in [HTTP.Method.get, .head] {
            let answer = await fixture.send(method, forged, [("Origin", own)])
            #expect(answer.status == .forbidden)
            #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
        }
        let preflight = await fixture.send(
            .options, forged, [("Origin", own), ("Access-Control-Request-Method", "GET")])
        #expect(preflight.status == .noContent)
        #expect(preflight.fields["Access-Control-Allow-Origin"] == "*")
        #expect(fixture.asked.withLock { $0 } == 0)
    }
}

@Suite struct `The keys of download URLs` {
    private let folder = TemporaryFolder()

    @Test func `survive a restart (9.6)`() throws {
        let first = try SigningKeys.load(folder: folder.path)
        #expect(first.keys.count == 2)
        #expect(try SigningKeys.load(folder: folder.path).keys == first.keys)
    }

    @Test func `are the current, the next, and those whose URLs are still valid (9.6)`() throws {
        let before = try SigningKeys.load(folder: folder.path)
        let after = try SigningKeys.rotate(
            .keeping(until: 5000), folder: folder.path, at: 0)
        #expect(after.ids(at: 0).map(\.role) == [.signing, .next, .retired])
        #expect(after.keys[0].secret == before.keys[1].secret)
        #expect(after.keys[2].secret == before.keys[0].secret)
        #expect(try SigningKeys.load(folder: folder.path).keys == after.keys)
        let meanwhile = try SigningKeys.rotate(
            .keeping(until: 9000), folder: folder.path, at: 5000)
        #expect(meanwhile.ids(at: 5000).map(\.role) == [.signing, .next, .retired, .retired])
        let later = try SigningKeys.rotate(
            .keeping(until: 90_000), folder: folder.path, at: 70_000)
        #expect(later.ids(at: 70_000).map(\.role) == [.signing, .next, .retired])
    }

    @Test func `verify URLs of before a rotation, and sign new ones with the next key (9.6)`()
        async throws
    {
        let fixture = DownloadFixture()
        let downloads = fixture.downloads
        let old = downloads.signedURL(
            content: DownloadFixture.id, fileName: "a.png", at: DownloadFixture.now
        ).url
        downloads.replaceKeys(
            try fixture.keys.rotated(.keeping(until: DownloadFixture.now), at: DownloadFixture.now))
        func url(at now: Int64) -> String {
            downloads.signedURL(content: DownloadFixture.id, fileName: "a.png", at: now).url
        }
        let fresh = url(at: DownloadFixture.now + SigningKeys.delay)
        #expect(fresh.contains("kid=\(fixture.keys.keys[1].id)&"))
        for url in [old, fresh] { #expect(await downloads.send(.get, url).status == .ok) }
    }

    @Test(arguments: [SigningKeys.Rotation.keeping(until: DownloadFixture.now), .invalidating])
    func `sign URLs of earlier events as before the rotation (9.6, ruling 27)`(
        rotation: SigningKeys.Rotation
    ) throws {
        let fixture = DownloadFixture()
        let moments = (-3..<0).map { hours in DownloadFixture.now + hours * 3_600_000 }
        func urls() -> [String] {
            moments.map { now in
                fixture.downloads.signedURL(content: DownloadFixture.id, fileName: nil, at: now).url
            }
        }
        let before = urls()
        var keys = fixture.keys
        for day in 0..<3 {
            keys = try keys.rotated(rotation, at: DownloadFixture.now + Int64(day) * 86_400_000)
            keys = try #require(SigningKeys(bytes: keys.bytes))
        }
        fixture.downloads.replaceKeys(keys)
        #expect(urls() == before)
    }

    @Test(arguments: [false, true])
    func `keep the expiry of URLs of earlier events when the lifetime is changed (9.6, ruling 27)`(
        isShared: Bool
    ) throws {
        let fixture = DownloadFixture()
        let (hour, downloads): (Int64, Downloads) = (3_600_000, fixture.downloads)
        func expiry(_ now: Int64) -> Int64 {
            let signed = downloads.signedURL(content: DownloadFixture.id, at: now)
            return signed.expiresAtMilliseconds - now
        }
        // A whole quarter of an hour, so that nothing is rounded.
        let now = DownloadFixture.now / 900_000 * 900_000
        var keys = try #require(
            fixture.keys.recording(lifetime: 2 * hour, at: now, isShared: isShared))
        #expect(keys.recording(lifetime: 2 * hour, at: now, isShared: isShared) == nil)
        keys = try #require(keys.recording(lifetime: 5 * hour, at: now, isShared: isShared))
        keys = try keys.rotated(.keeping(until: now), at: now)
        downloads.replaceKeys(try #require(SigningKeys(bytes: keys.bytes)))
        #expect(expiry(now - 900_000) == 2 * hour)
        #expect(expiry(now + 900_000) == 5 * hour)
        // Processes that share the keys learn of the change within a minute.
        #expect(expiry(now) == (isShared ? 2 : 5) * hour)
    }

    @Test func `can be revoked together with their URLs (9.6)`() async throws {
        let fixture = DownloadFixture()
        let downloads = fixture.downloads
        downloads.replaceKeys(try fixture.keys.rotated(.invalidating, at: DownloadFixture.now))
        #expect(await downloads.send(.get, fixture.url).status == .forbidden)
        let fresh = downloads.signedURL(
            content: DownloadFixture.id, fileName: nil, at: DownloadFixture.now
        ).url
        #expect(await downloads.send(.get, fresh).status == .ok)
    }

    @Test func `are created by a start and not by a rotation`() {
        #expect {
            _ = try SigningKeys.rotate(.invalidating, folder: folder.path, at: 0)
        } throws: { fault in
            if case .missing? = fault as? SigningKeys.Fault { true } else { false }
        }
    }

    @Test(arguments: [
        "", "a", "a b", "a AAAA", "a KEY", "a KEY x", "a KEY 1 2 3", "a KEY 1 2",
        "a KEY 1\nlifetime 5", "a KEY 1\nlifetime x 5",
    ])
    func `are not read from a malformed file`(line: String) throws {
        let key = String(repeating: "A", count: 43)
        let text = line.replacing("KEY", with: key)
        #expect(SigningKeys(bytes: Array("\(text)\n".utf8)) == nil)
    }
}
