import HTTP
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `Answers to errors` {
    /// What a status must carry, whoever made it.
    private static let required: [Int: FieldName] = [
        401: "WWW-Authenticate", 415: "Accept-Encoding", 429: "Retry-After", 503: "Retry-After",
    ]

    @Test(arguments: APIErrorTable.allCases)
    func `carry what their status asks for, and are never cached (H97, H98)`(kind: APIErrorTable) {
        let response = APIError(kind, "No.").response(publicBase: World.base)
        #expect(response.fields["Cache-Control"] == "no-store")
        if let name = Self.required[kind.row.status] {
            #expect(response.fields[name] != nil)
        }
    }

    @Test func `name what is read instead (H70, H71, H121)`() {
        let coding = APIError(
            .invalidHeader, "No.", data: .header("Content-Encoding"), status: 415)
        #expect(coding.response(publicBase: World.base).status == .unsupportedMediaType)
        #expect(
            coding.response(publicBase: World.base).fields["Accept-Encoding"]
                == "gzip, deflate, identity")
        let type = APIError(.invalidHeader, "No.", data: .header("Content-Type"))
        #expect(
            type.response(publicBase: World.base).fields["Accept-Patch"]
                == "application/vnd.layer-patch+json")
    }
}
