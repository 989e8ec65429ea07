import HTTP
import Testing

@Suite struct `The conditions of a request` {
    /// One second before, at, and after the last change; then in the future.
    private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let exactly = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"
    private static let future = "Sun, 06 Nov 2094 08:49:38 GMT"
    private static let now: Int64 = 1_700_000_000

    private let preconditions = Preconditions(tag: EntityTag(opaque: "t"), modified: 784_111_777)

    private func evaluate(
        _ fields: [(name: String, value: String)], _ method: Method = .get
    ) -> Preconditions.Outcome {
        preconditions.evaluate(method, Fields(fields), at: Self.now)
    }

    @Test(
        arguments: [
            ([], .proceed),
            ([("If-Match", "\"t\"")], .proceed),
            ([("If-Match", "\"x\", \"t\"")], .proceed),
            ([("If-Match", "*")], .proceed),
            ([("If-Match", "W/\"t\"")], .failed),
            ([("If-Match", "\"x\"")], .failed),
            ([("If-Match", "t")], .failed),
            ([("If-None-Match", "\"t\"")], .notModified),
            ([("If-None-Match", "W/\"t\"")], .notModified),
            ([("If-None-Match", "\"x\", W/\"t\"")], .notModified),
            ([("If-None-Match", "\"x\""), ("If-None-Match", "\"t\"")], .notModified),
            ([("If-None-Match", "*")], .notModified),
            ([("If-None-Match", "\"x\"")], .proceed),
            ([("If-None-Match", "t")], .proceed),
        ] as [([(name: String, value: String)], Preconditions.Outcome)])
    func `compare tags, strongly for If-Match and weakly for If-None-Match (H101)`(
        fields: [(name: String, value: String)], result: Preconditions.Outcome
    ) {
        #expect(evaluate(fields) == result)
    }

    @Test(
        arguments: [
            ([("If-Unmodified-Since", before)], .failed),
            ([("If-Unmodified-Since", exactly)], .proceed),
            ([("If-Unmodified-Since", "yesterday")], .proceed),
            ([("If-Modified-Since", before)], .proceed),
            ([("If-Modified-Since", exactly)], .notModified),
            ([("If-Modified-Since", after)], .notModified),
            ([("If-Modified-Since", future)], .proceed),
            ([("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT")], .notModified),
            ([("If-Modified-Since", "Sun Nov  6 08:49:37 1994")], .notModified),
            ([("If-Modified-Since", "784111777")], .proceed),
        ] as [([(name: String, value: String)], Preconditions.Outcome)])
    func `read dates, and ignore invalid and future ones (H103)`(
        fields: [(name: String, value: String)], result: Preconditions.Outcome
    ) {
        #expect(evaluate(fields) == result)
    }

    @Test(
        arguments: [
            ([("If-Match", "\"t\""), ("If-Unmodified-Since", before)], .proceed),
            ([("If-None-Match", "\"x\""), ("If-Modified-Since", exactly)], .proceed),
            ([("If-Match", "\"x\""), ("If-None-Match", "\"t\"")], .failed),
            ([("If-Unmodified-Since", before), ("If-None-Match", "\"t\"")], .failed),
            ([("If-Match", "\"t\""), ("If-None-Match", "\"t\"")], .notModified),
            ([("If-Unmodified-Since", after), ("If-Modified-Since", after)], .notModified),
        ] as [([(name: String, value: String)], Preconditions.Outcome)])
    func `are evaluated in order, and a tag replaces its date (H100)`(
        fields: [(name: String, value: String)], result: Preconditions.Outcome
    ) {
        #expect(evaluate(fields) == result)
    }

    @Test(arguments: [Method.post, .put, .patch, .delete])
    func `of a method that writes never give 304 (H99, H101, H103)`(method: Method) {
        #expect(evaluate([("If-None-Match", "\"t\"")], method) == .failed)
        #expect(evaluate([("If-None-Match", "*")], method) == .failed)
        #expect(evaluate([("If-Modified-Since", Self.exactly)], method) == .proceed)
        #expect(evaluate([("If-None-Match", "\"t\"")], .head) == .notModified)
    }

    @Test func `of a resource without tag and date depend only on its existence (H101)`() {
        let bare = Preconditions(tag: nil, modified: nil)
        func evaluate(_ name: String, _ value: String) -> Preconditions.Outcome {
            bare.evaluate(.get, Fields([(name, value)]), at: Self.now)
        }
        #expect(evaluate("If-Match", "*") == .proceed)
        #expect(evaluate("If-Match", "\"t\"") == .failed)
        #expect(evaluate("If-None-Match", "*") == .notModified)
        #expect(evaluate("If-Modified-Since", Self.exactly) == .proceed)
        #expect(!bare.allowsRange(Fields([("If-Range", Self.exactly)])))
    }

    @Test(arguments: [
        ("\"t\"", true), ("W/\"t\"", false), ("\"x\"", false), ("\"t\", \"x\"", false),
        ("*", false), (exactly, true), (before, false), (after, false), ("", false),
    ])
    func `allow a range for a strong match only (H109)`(value: String, isMet: Bool) {
        #expect(preconditions.allowsRange(Fields([("If-Range", value)])) == isMet)
    }
}

@Suite struct `An If-Match` {
    @Test(arguments: [
        #""t""#, "*", " * ", #"W/"t""#, #""a", "b""#, #""a","b" ,, W/"c""#, #""a,b""#, #""""#,
    ]) func `is valid when it is a list of tags or an asterisk (H101)`(text: String) {
        #expect(Preconditions.isReadable(text))
    }

    @Test(arguments: [
        "", "t", #""t"#, #"t""#, #""a" "b""#, #""a", b"#, #"w/"t""#, ",", "*, *", #"* , "t""#,
        #""a b""#, String(repeating: #""t","#, count: 257), String(repeating: ",", count: 20),
    ]) func `is invalid when it is anything else`(text: String) {
        #expect(!Preconditions.isReadable(text))
    }

    @Test(arguments: [
        (#""t-gzip""#, Preconditions.Outcome.proceed), (#""t-deflate""#, .proceed),
        (#""t-br""#, .failed), (#""x-gzip""#, .failed),
    ]) func `matches the tag of the compressed content as well (H102)`(
        tag: String, result: Preconditions.Outcome
    ) {
        let preconditions = Preconditions(tag: EntityTag(opaque: "t"), modified: nil)
        #expect(preconditions.evaluate(.patch, Fields([("If-Match", tag)]), at: 0) == result)
    }
}
