import MessagingWire
import Testing

@Suite struct `The table of errors` {
    private let rows = APIErrorTable.allCases.map(\.row)

    @Test func `no identifier stands twice`() {
        #expect(Set(rows.map(\.id.description)).count == rows.count)
    }

    @Test func `no code stands twice`() {
        #expect(Set(rows.map(\.code)).count == rows.count)
    }

    @Test func `codes are those of the original service and some of our own`() {
        #expect(rows.map(\.code) == Array(1...10) + Array(100...116))
    }

    @Test func `every status is an error`() {
        #expect(rows.allSatisfy { (400...507).contains($0.status) })
    }

    @Test func `identifiers are the cases in snake case`() {
        for error in APIErrorTable.allCases {
            let letters = error.row.id.description.filter { $0 != "_" }
            #expect(letters == "\(error)".lowercased())
        }
    }
}

@Suite struct `The error object` {
    @Test func `it shows identifier, code, message and url`() {
        let error = APIError(.notFound, "A \"thing\"")
        #expect(
            text(error) == """
                {"id":"not_found","code":102,"message":"A \\"thing\\"",\
                "url":"https://developer.layer.com/docs/platform"}
                """)
    }

    @Test func `it points at the property`() {
        let error = APIError(.missingProperty, "m", data: .property("parts.body"))
        #expect(text(error).hasSuffix(#","data":{"property":"parts.body"}}"#))
    }

    @Test func `it points at the header`() {
        let error = APIError(.invalidHeader, "m", data: .header("Accept"))
        #expect(text(error).hasSuffix(#","data":{"header":"Accept"}}"#))
    }

    @Test func `it shows the object in the way`() {
        let error = APIError(.conflict, "m", data: .object(Array(#"{"id":"x"}"#.utf8)))
        #expect(text(error).hasSuffix(#","data":{"id":"x"}}"#))
    }

    @Test func `the status is that of the table unless said otherwise`() {
        #expect(APIError(.invalidRequest, "m").status == 400)
        #expect(APIError(.invalidRequest, "m", status: 413).status == 413)
    }

    private func text(_ error: APIError) -> String {
        String(decoding: ErrorJSON.bytes(error), as: UTF8.self)
    }
}
