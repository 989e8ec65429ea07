import Foundation
import HTTP
import Testing

@testable import Console

@Suite struct `The files of the pages` {
    private static let files = EmbeddedFiles.all

    @Test func `are those of the sources`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/Console/Assets")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { name in name.contains(".") }.sorted()
        #expect(Self.files.map(\.path) == names)
        for (path, text) in Self.files {
            #expect(
                try String(contentsOf: folder.appending(path: path), encoding: .utf8) == text,
                "\(path)")
        }
    }

    @Test(arguments: [
        ("shared/", 16_000), ("console/", 179_000), ("demo/", 53_000), ("docs/", 7600),
    ])
    func `have at most that many bytes`(folder: String, limit: Int) {
        let sizes = Self.files.filter { $0.path.hasPrefix(folder) }.map(\.text.utf8.count)
        #expect(!sizes.isEmpty)
        #expect(sizes.reduce(0, +) <= limit)
    }

    @Test func `name no address elsewhere`() {
        for (path, text) in Self.files {
            // Only lines with two slashes: the expression is slow.
            for line in text.split(separator: "\n") where line.contains("//") {
                for match in line.matches(of: /(?i)\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+/) {
                    #expect(match.output == "//www.w3.org", "\(path): \(match.output)")
                }
            }
            #expect(!text.contains("@import"), "\(path)")
        }
    }

    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(",
        "DOMParser", "setAttribute('style'", "setAttribute(\"style\"", "setAttribute('on",
        "setAttribute(\"on", "javascript:", " style=", "cssText",
    ]) func `build elements without markup in strings`(word: String) {
        for (path, text) in Self.files { #expect(!text.contains(word), "\(path)") }
    }

    @Test func `of the demo are short enough to read`() {
        let scripts = Self.files.filter { file in
            file.path.hasPrefix("demo/") && file.path.hasSuffix(".js")
        }
        #expect(scripts.count > 3)
        let lines = scripts.flatMap { file in file.text.split(separator: "\n") }
            .count { line in line.contains { !$0.isWhitespace } }
        #expect(lines < 1000)
    }

    // MARK: - Responses

    private static let store = AssetStore(files)

    private static func request(_ fields: [(name: String, value: String)] = []) -> Request {
        Request(method: .get, target: RequestTarget("/console/assets/x"), fields: Fields(fields))
    }

    @Test func `are stored by browsers for ever under the hash of the release`() {
        let response = Self.store.response(
            to: Self.request(), hash: Self.store.hash, path: "shared/base.css")
        #expect(response.status == .ok)
        #expect(response.fields["Cache-Control"] == "public, max-age=31536000, immutable")
        #expect(response.fields["Content-Type"] == "text/css; charset=UTF-8")
        #expect(response.fields["Content-Encoding"] == nil)
        #expect(response.fields["Vary"] == "Accept-Encoding")
        #expect(response.fields["X-Frame-Options"] == "DENY")
        #expect(response.fields["Cross-Origin-Resource-Policy"] == "same-origin")
    }

    @Test func `are compressed for browsers that accept it`() {
        let plain = Self.store.response(
            to: Self.request(), hash: Self.store.hash, path: "demo/demo.js")
        let coded = Self.store.response(
            to: Self.request([("Accept-Encoding", "gzip, br")]), hash: Self.store.hash,
            path: "demo/demo.js")
        #expect(coded.fields["Content-Encoding"] == "gzip")
        #expect((coded.content.length ?? 0) * 2 < plain.content.length ?? 0)
    }

    @Test(arguments: [
        ("0123456789abcdef", "shared/base.css"), (nil, "shared/base.css"), ("", ""),
    ]) func `of another release are 404 and never stored`(hash: String?, path: String) {
        let response = Self.store.response(to: Self.request(), hash: hash, path: path)
        #expect(response.status == .notFound)
        #expect(response.fields["Cache-Control"] == "no-store")
    }

    @Test(arguments: ["demo/demo.html", "shared", "../Console.swift", "shared/missing.js"])
    func `do not include other files`(path: String) {
        let response = Self.store.response(to: Self.request(), hash: Self.store.hash, path: path)
        #expect(response.status == .notFound)
    }

    @Test func `have another hash when a file changes`() {
        let hash = AssetStore([("a.js", "1"), ("b.js", "2")]).hash
        #expect(hash.count == 16)
        #expect(hash == AssetStore([("a.js", "1"), ("b.js", "2")]).hash)
        for other in [
            [("a.js", "12"), ("b.js", "")], [("a.js", "1")], [("a.js", "1"), ("c.js", "2")],
        ] {
            #expect(hash != AssetStore(other.map { (path: $0.0, text: $0.1) }).hash)
        }
    }
}

@Suite struct `The hosts of the demo` {
    private static let rule = HostRule(
        publicURL: "https://Chat.example.com:8443/base", allowed: ["intranet", "chat.example.org"])

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8080", "192.168.1.7:8080", "[::1]:8080", "[2001:db8::1]",
        "localhost",
        "LOCALHOST:8080", "localhost.", "chat.example.com", "chat.example.com:443", "intranet:8080",
        "chat.example.org.",
    ]) func `are addresses, localhost and configured names`(host: String) {
        #expect(Self.rule.admits(Self.request(host)))
    }

    @Test(arguments: [
        nil, "", "evil.example", "evil.example:8080", "localhost.evil.example",
        "127.0.0.1.evil.example",
        "chat.example.com.evil.example", "127.1", "0x7f000001", "[::1", "a b",
        "localhost@evil.example",
    ]) func `are no others, so that no site can point its name here`(host: String?) {
        #expect(!Self.rule.admits(Self.request(host)))
    }

    private static func request(_ host: String?) -> Request {
        Request(
            method: .get, target: RequestTarget("/demo"),
            fields: Fields(host.map { host in [("Host", host)] } ?? []))
    }
}
