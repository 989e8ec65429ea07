import HTTP

/// Chunked bodies (H46–H52).
enum Chunks {
    private struct Decoding: Equatable {
        var body: [UInt8] = []
        var used = 0
        var status: Int?
        var isComplete = false
    }

    static func check(_ input: [UInt8]) {
        for limit: Int64 in [1 << 20, 10] {
            let ways = Cuts.ways(of: input).map { cuts in decode(input, cuts, limit) }
            law("every split says the same (H3)", ways.allSatisfy { way in way == ways[0] })
            guard ways[0].isComplete else { continue }
            law("a body ends with its framing (H52)", input[..<ways[0].used].suffix(2) == [13, 10])
            law("a body obeys its limit (H49)", ways[0].body.count <= limit)
            checkAgain(ways[0].body)
        }
    }

    /// A body that was accepted, chunked once more, comes back the same.
    static func checkAgain(_ body: [UInt8]) {
        let chunk =
            body.isEmpty
            ? [] : Array("\(String(body.count, radix: 16))\r\n".utf8) + body + [13, 10]
        let message = chunk + Array("0\r\n\r\n".utf8)
        let again = decode(message, [message.count], .max)
        law("a body written again is the same", again.isComplete && again.body == body)
        law("… in as many bytes as were written", again.used == message.count)
    }

    private static func decode(_ input: [UInt8], _ cuts: [Int], _ limit: Int64) -> Decoding {
        var decoder = BodyDecoder(.chunked, limit: limit)
        var result = Decoding()
        for cut in cuts {
            reading: while true {
                do throws(Refusal) {
                    switch try decoder.step(input[result.used..<cut].span) {
                    case .framing(let count): result.used += count
                    case .content(let count):
                        result.body += input[result.used..<result.used + count]
                        result.used += count
                    case .needsInput: break reading
                    case .end:
                        result.isComplete = true
                        return result
                    }
                } catch {
                    return Decoding(status: error.status.code)
                }
            }
        }
        return result
    }
}
