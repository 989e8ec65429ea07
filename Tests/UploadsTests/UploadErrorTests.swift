import FoundationEssentials
import JSON
import Testing

@testable import HTTP
@testable import Uploads

@Suite struct `An upload error` {
    private let fixture = UploadFixture()
    private let request = Request(method: .get, target: RequestTarget("/"), fields: Fields([]))

    /// Each case with its own text; texts passed as parameters are read from the sources.
    private static let cases: [UploadError] = [
        .notFound, .gone, .beyondLength, .overflow, .tooLarge(limit: 5), .checksumMismatch,
        .contentMismatch,
        .unsupportedChecksum, .offsetMismatch, .unauthenticated("The token is unknown or expired."),
        .forbidden, .inUse, .refused,
        .locked, .superseded, .stillFinalizing, .rateLimited, .tooManyUploads, .insufficientStorage,
        .quotaExceeded(7), .backend, .unavailable, .busy, .stalled, .wrongMediaType, .concatenated,
        .codedBody,
    ]

    private static let downloads: [DownloadError] = [
        .forged, .expired, .notFound, .preconditionFailed, .unsatisfiable("bytes */1"), .method,
        .busy, .unavailable, .backend,
    ]

    /// The string literals that the module's sources pass to an error.
    private static func literalTexts() throws -> [String] {
        let folder = #filePath.components(separatedBy: "/Tests/")[0] + "/Sources/Uploads"
        let literal =
            #/(?:invalid\(|lengthMismatch\(|text:|error\([^"]*reason: "[a-zA-Z]+",)\s*"((?:[^"\\]|\\.)*)"/#
        return try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") }
            .flatMap { name in
                let source = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                return source.matches(of: literal).map { String($0.1) }
            }
    }

    @Test func `has its own text, which says what to do (ruling 32)`() throws {
        let settings = fixture.settings
        var texts = Self.cases.map { $0.details(settings).message }
        for error in Self.downloads {
            let text = try message(error.response(to: request, settings))
            texts.append(try #require(text))
        }
        let literalTexts = try Self.literalTexts()
        #expect(literalTexts.count > 40)
        texts += literalTexts
        #expect(Set(texts).count == texts.count)
        for text in texts {
            #expect(text.hasSuffix("."), "\(text)")
            #expect(text.utf8.count > 30, "\(text)")
        }
        for text in literalTexts { #expect(text.contains(/[A-Z\\][A-Za-z0-9\\(.)-]+/), "\(text)") }
    }

    @Test func `names the limit in force`() {
        var settings = fixture.settings
        settings.maxOpenUploadsPerOwner = 67
        #expect(
            UploadError.tooLarge(limit: 12_345).details(settings).message.contains("12345 bytes"))
        #expect(UploadError.tooManyUploads.details(settings).message.contains("67 uploads"))
        #expect(UploadError.quotaExceeded(89).details(settings).message.contains("89 bytes"))
    }

    private func message(_ response: Response) throws -> String? {
        guard case .bytes(let bytes) = response.content else { return nil }
        return try JSONDocument(bytes).root["message"]?.string
    }

    @Test(arguments: cases) func `has id, code and url in JSON (ruling 32)`(
        error: UploadError
    ) throws {
        let settings = fixture.settings
        let details = error.details(settings)
        let words = InteropResponses(.draft(8), to: request, settings)
        for response in [error.response(to: request, settings), words.response(error)] {
            if error == .stalled, response.ending == .drop { continue }
            guard case .bytes(let bytes) = response.content else {
                Issue.record("The body is not JSON.")
                continue
            }
            let root = try JSONDocument(bytes).root
            #expect(root["id"]?.string == details.kind.rawValue)
            #expect(root["code"]?.raw.elementsEqual("\(details.kind.code)".utf8) == true)
            #expect(
                root["url"]?.string
                    == "https://chat.example/docs/errors#\(details.kind.rawValue)")
        }
        // An error of tus is one line of text.
        let tus = TusProtocol.response(to: error, settings)
        #expect(tus.text == "\(details.reason): \(details.message)")
        #expect(tus.fields["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test func `has the url of the host that a trusted proxy names (rulings 32, 36)`() {
        var settings = fixture.settings
        settings.errorBase = PublicBaseURL("http://127.0.0.1:8080", followsProxies: true)
        let request = Request(
            method: .get, target: RequestTarget("/"), fields: Fields([]), scheme: .https,
            forwardedHost: Authority("chat.example.org".utf8))
        let words = InteropResponses(.draft(8), to: request, settings)
        for response in [
            UploadError.notFound.response(to: request, settings),
            words.response(UploadError.notFound),
            DownloadError.notFound.response(to: request, settings),
        ] {
            #expect(
                response.text.contains(#""url":"https://chat.example.org/docs/errors#not_found""#))
        }
    }

    @Test(arguments: downloads) func `of a download has id, code and url too (ruling 32)`(
        error: DownloadError
    ) throws {
        guard case .bytes(let bytes) = error.response(to: request, fixture.settings).content else {
            Issue.record("The body is not JSON.")
            return
        }
        let root = try JSONDocument(bytes).root
        let id = try #require(root["id"]?.string)
        #expect(UploadErrorKind(rawValue: id) != nil)
        #expect(root["url"]?.string == "https://chat.example/docs/errors#\(id)")
        #expect(root["error"]?["errors"]?.kind == .array)
    }

    @Test func `as problem details keeps its members (3.9)`() async throws {
        let uploads = try await fixture.open()
        let client = InteropClient(uploads: uploads, version: 8)
        let url = try await client.started([1, 2])
        let answer = await client.append([3], at: 5, of: url, isComplete: true)
        #expect(answer.status == .conflict)
        #expect(
            answer.text
                == #"{"type":"https://iana.org/assignments/http-problem-types#mismatching-upload-offset","title":"Upload-Offset is not the offset of the upload; continue at expected-offset.","status":409,"id":"invalid_operation","code":9,"url":"https://chat.example/docs/errors#invalid_operation","expected-offset":2,"provided-offset":5}"#
        )
    }
}
