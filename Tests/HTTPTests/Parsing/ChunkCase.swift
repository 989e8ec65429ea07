import HTTP
import Testing

/// The result of decoding bytes: the body so far, and how it ended.
struct Decoding: Equatable {
    enum Ending: Equatable { case complete, waiting, refused(Int) }

    var body: [UInt8] = []
    /// Bytes used, framing included.
    var used = 0
    var ending = Ending.waiting

    /// Decodes a message that arrives in pieces split at these positions.
    init(
        _ message: [UInt8], as framing: BodyFraming = .chunked, cuts: [Int], limit: Int64 = 1 << 20
    ) {
        var decoder = BodyDecoder(framing, limit: limit)
        for cut in cuts {
            // As a connection does: unused bytes are passed again with the new ones.
            feeding: while used <= cut {
                let shown = message[used..<cut]
                do throws(Refusal) {
                    switch try decoder.step(shown.span) {
                    case .framing(let count): used += count
                    case .content(let count):
                        body += message[used..<used + count]
                        used += count
                    case .needsInput: break feeding
                    case .end:
                        ending = .complete
                        return
                    }
                } catch {
                    // How much of a refused message was used depends on the pieces and has no
                    // meaning.
                    used = 0
                    ending = .refused(error.status.code)
                    return
                }
            }
        }
    }

    init(_ message: [UInt8], as framing: BodyFraming = .chunked, limit: Int64 = 1 << 20) {
        self.init(message, as: framing, cuts: [message.count], limit: limit)
    }
}

/// A chunked body of a table.
struct ChunkCase: Sendable, CustomTestStringConvertible {
    let rule: String
    let message: String
    let body: String

    init(_ rule: String, _ message: String, _ body: String = "") {
        self.rule = rule
        self.message = message
        self.body = body
    }

    var testDescription: String { "\(rule): \(message.prefix(100).debugDescription)" }

    static let accepted: [ChunkCase] = [
        ChunkCase("H46", "5\r\nhello\r\n0\r\n\r\n", "hello"),
        ChunkCase("H46", "0\r\n\r\n"),
        ChunkCase("H46", "000000000000000A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ChunkCase(
            "H46", "a\r\n0123456789\r\nA\r\nabcdefghij\r\n00\r\n\r\n", "0123456789abcdefghij"),
        ChunkCase("H47", "5;a\r\nhello\r\n0\r\n\r\n", "hello"),
        ChunkCase(
            "H47",
            "5 ; a = b ;c=\"d\\\"e;\r\"\r\n".replacing("\r\"", with: "\"") + "hello\r\n0\r\n\r\n",
            "hello"),
        ChunkCase("H47", "5\t;\ta\t=\t\"x\" ;b;c\r\nhello\r\n0;z\r\n\r\n", "hello"),
        ChunkCase("H47", "5;a=\"\"\r\nhello\r\n0\r\n\r\n", "hello"),
        ChunkCase("H48", "3\r\n\r\n\r\r\n0\r\n\r\n", "\r\n\r"),
        ChunkCase("H50", "0\r\nA: b\r\nC:\r\n\r\n"),
        ChunkCase("H50", "1\r\nx\r\n0\r\nHost: evil\r\nContent-Length: 99\r\n\r\n", "x"),
    ]

    static let refused: [ChunkCase] =
        [
            "+5", "-5", "0x5", " 5", "5 ", "5\t", "", "_5", "5_0", "g", "5,", "8000000000000000",
            "FFFFFFFFFFFFFFFF", "00000000000000005", "\u{663}", "5\u{0}", "5.0",
        ].map { size in ChunkCase("H46", "\(size)\r\nhello\r\n0\r\n\r\n") }
        + [
            ";", ";=b", ";a=", ";a= ;b", ";a;;b", ";a=b ;;c", ";a=b ;", ";a ", ";a=b=c", ";a=\"b",
            ";a=\"b\"c",
            ";a=\"b\"=c", ";a b", ";a=\u{1}", ";a=\"\u{0}\"", ";a=\"\\\u{7F}\"", ";\u{80}",
            ";a=\"b\" c", " a",
        ].map { part in ChunkCase("H47", "5\(part)\r\nhello\r\n0\r\n\r\n") }
        + [
            ChunkCase("H8", "5\nhello\r\n0\r\n\r\n"),
            ChunkCase("H8", "5\r\rhello\r\n0\r\n\r\n"),
            ChunkCase("H48", "5\r\nhello0\r\n\r\n"),
            ChunkCase("H48", "5\r\nhello\n0\r\n\r\n"),
            ChunkCase("H48", "5\r\nhello\rX0\r\n\r\n"),
            ChunkCase("H48", "4\r\nhello\r\n0\r\n\r\n"),
            ChunkCase("H50", "0\r\nA : b\r\n\r\n"),
            ChunkCase("H50", "0\r\n: b\r\n\r\n"),
            ChunkCase("H50", "0\r\n A: b\r\n\r\n"),
            ChunkCase("H50", "0\r\nA: b\u{0}\r\n\r\n"),
            ChunkCase("H50", "0\r\nA: b\n\r\n"),
            ChunkCase("H50", "0\r\nA\r\n\r\n"),
            ChunkCase("H50", "0\r\n\rX"),
        ]
}
