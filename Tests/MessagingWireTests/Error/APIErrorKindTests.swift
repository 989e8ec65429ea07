import MessagingWire
import Testing

@Suite struct `The table of errors` {
    private let rows = APIErrorKind.allCases.map(\.row)

    @Test func `identifiers are unique`() {
        #expect(Set(rows.map(\.id.description)).count == rows.count)
    }

    @Test func `codes are unique`() {
        #expect(Set(rows.map(\.code)).count == rows.count)
    }

    @Test func `codes are those of the original service and our own`() {
        #expect(rows.map(\.code) == Array(1...10).filter { $0 != 7 } + Array(100...120))
    }

    @Test(arguments: APIErrorKind.allCases)
    func `each has a short meaning and a remedy in one sentence (ruling 32)`(
        error: APIErrorKind
    ) {
        #expect(!error.meaning.isEmpty && !error.meaning.hasSuffix("."))
        #expect(error.remedy.hasSuffix(".") && error.remedy.first?.isUppercase == true)
    }

    @Test func `every status is an error status`() {
        #expect(rows.allSatisfy { (400...507).contains($0.status) })
    }

    @Test func `identifiers are the names of the cases in snake case`() {
        for error in APIErrorKind.allCases {
            let letters = error.row.id.description.filter { $0 != "_" }
            #expect(letters == "\(error)".lowercased())
        }
    }
}

@Suite struct `The error object` {
    @Test func `it has identifier, code, message and url`() {
        let error = APIError(.notFound, "A \"thing\"")
        #expect(
            text(error) == """
                {"id":"not_found","code":102,"message":"A \\"thing\\"",\
                "url":"https://chat.example.com/docs/errors#not_found"}
                """)
    }

    @Test func `it names the property`() {
        let error = APIError(.missingProperty, "m", data: .property("parts.body"))
        #expect(text(error).hasSuffix(#","data":{"property":"parts.body"}}"#))
    }

    @Test func `it names the header`() {
        let error = APIError(.invalidHeader, "m", data: .header("Accept"))
        #expect(text(error).hasSuffix(#","data":{"header":"Accept"}}"#))
    }

    @Test func `it contains the conflicting object`() {
        let error = APIError(.conflict, "m", data: .object(Array(#"{"id":"x"}"#.utf8)))
        #expect(text(error).hasSuffix(#","data":{"id":"x"}}"#))
    }

    @Test(arguments: [(1, "1 second"), (60, "60 seconds")])
    func `an exceeded limit has the time to retry (ruling 34)`(seconds: Int, text: String) {
        let error = APIError.rateLimited("There are 5 already.", retryAfter: seconds)
        #expect(error.kind.row.id.description == "rate_limited")
        #expect(error.status == 429)
        #expect(error.message == "There are 5 already. Retry after \(text).")
        #expect(error.retryAfter == seconds)
    }

    @Test func `the status is that of the table unless given`() {
        #expect(APIError(.invalidRequest, "m").status == 400)
        #expect(APIError(.invalidRequest, "m", status: 413).status == 413)
    }

    private func text(_ error: APIError) -> String {
        String(
            decoding: ErrorJSON.bytes(error, publicBase: "https://chat.example.com"), as: UTF8.self)
    }
}
