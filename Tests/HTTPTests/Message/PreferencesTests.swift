import HTTP
import Testing

@Suite struct `What a client prefers` {
    @Test(arguments: [
        ("return=representation", "representation"), ("Return = representation", "representation"),
        (#"return="representation""#, "representation"), ("return", ""), ("return=", ""),
        ("wait=5, return=minimal;foo=bar", "minimal"), (#"a="x,return=b", return=c"#, "c"),
        ("return=a, return=b", "a"), ("return=A", "A"),
    ]) func `is the first value of a name (RFC 7240 §2)`(line: String, value: String) {
        #expect(Preferences(Fields([("Prefer", line)]))["return"] == value)
    }

    @Test(arguments: ["", ",", "returns=x", #""return"=x"#, #"return="x"#, #"return=""#, "=x"])
    func `is left out when it cannot be read`(line: String) {
        #expect(Preferences(Fields([("Prefer", line)]))["return"] == nil)
    }

    @Test func `may stand in several lines`() {
        let wishes = Preferences(Fields([("Prefer", "wait=5"), ("Prefer", "return=minimal")]))
        #expect(wishes["wait"] == "5")
        #expect(wishes["return"] == "minimal")
        #expect(Preferences(Fields([]))["return"] == nil)
    }
}
