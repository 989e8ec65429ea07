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
            let splits = Cuts.splits(of: input).map { cuts in decode(input, cuts, limit) }
            invariant(
                "every split gives the same result (H3)",
                splits.allSatisfy { split in split == splits[0] })
            guard splits[0].isComplete else { continue }
            invariant(
                "a body ends with its framing (H52)",
                input[..<splits[0].used].suffix(2) == [13, 10])
            invariant("a body is within its limit (H49)", splits[0].body.count <= limit)
            checkAgain(splits[0].body)
        }
    }

    /// Checks that an accepted body that is chunked again is decoded unchanged.
    static func checkAgain(_ body: [UInt8]) {
        let chunk =
            body.isEmpty
            ? [] : Array("\(String(body.count, radix: 16))\r\n".utf8) + body + [13, 10]
        let message = chunk + Array("0\r\n\r\n".utf8)
        let again = decode(message, [message.count], .max)
        invariant("a body written again is the same", again.isComplete && again.body == body)
        invariant("exactly the written bytes are read", again.used == message.count)
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
