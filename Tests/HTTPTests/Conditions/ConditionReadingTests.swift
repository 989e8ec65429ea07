import HTTP
import Testing

@Suite struct `An If-Match` {
    @Test(arguments: [
        #""t""#, "*", " * ", #"W/"t""#, #""a", "b""#, #""a","b" ,, W/"c""#, #""a,b""#, #""""#,
    ]) func `can be judged when it is a list of tags, or anything (H101)`(text: String) {
        #expect(Preconditions.isReadable(text))
    }

    @Test(arguments: [
        "", "t", #""t"#, #"t""#, #""a" "b""#, #""a", b"#, #"w/"t""#, ",", "*, *", #"* , "t""#,
        #""a b""#, String(repeating: #""t","#, count: 257), String(repeating: ",", count: 20),
    ]) func `cannot be judged when it is anything else`(text: String) {
        #expect(!Preconditions.isReadable(text))
    }

    @Test(arguments: [
        (#""t-gzip""#, Preconditions.Verdict.proceed), (#""t-deflate""#, .proceed),
        (#""t-br""#, .failed), (#""x-gzip""#, .failed),
    ]) func `knows a thing by its compressed octets too (H102)`(
        tag: String, verdict: Preconditions.Verdict
    ) {
        let thing = Preconditions(tag: EntityTag(opaque: "t"), modified: nil)
        #expect(thing.judge(.patch, Fields([("If-Match", tag)]), at: 0) == verdict)
    }
}
