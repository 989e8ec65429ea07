import MessagingWire
import Testing

@Suite struct `A URI component` {
    @Test(arguments: [
        ("ana", "ana"), ("team/42", "team%2F42"), ("a b+c%", "a%20b%2Bc%25"),
        ("-_.!~*'()", "-_.!~*'()"), ("grüß", "gr%C3%BC%C3%9F"), ("🦜", "%F0%9F%A6%9C"),
        ("layer:///x?y#z&=", "layer%3A%2F%2F%2Fx%3Fy%23z%26%3D"), ("", ""),
    ])
    func `it is written as encodeURIComponent writes it`(text: String, encoded: String) {
        #expect(URIComponent.encoded(text) == encoded)
    }

    @Test(arguments: ["ana", "team/42", "-_.!~*'()", "grüß 🦜", "100%", ""])
    func `reading undoes writing`(text: String) {
        #expect(URIComponent.decoded(URIComponent.encoded(text)) == text)
    }

    @Test func `what need not be encoded may be (1_7)`() {
        #expect(URIComponent.decoded("%61%6e%61%21%7E") == "ana!~")
    }

    @Test(arguments: ["%", "%4", "a%zz", "%C3", "%ED%A0%80", "%C0%AF"])
    func `a broken escape and bytes that are no text are refused`(text: String) {
        #expect(URIComponent.decoded(text) == nil)
    }
}
