import HTTP

/// Paths and queries, decoded once (H57–H62).
enum Targets {
    static func check(_ input: [UInt8]) {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        let target = RequestTarget(text)
        if let segments = try? target.segments() {
            invariant("at most 64 segments (H58)", segments.count <= 64)
            invariant(
                "no dots, no NUL (H61, H62)",
                segments.allSatisfy { segment in
                    segment != "." && segment != ".." && !segment.utf8.contains(0)
                })
            let again = RequestTarget(segments.map { "/" + escaped($0) }.joined())
            invariant("segments escaped and decoded are the same (H60)", same(again, segments))
        }
        if let parameters = try? target.parameters() {
            invariant("at most 256 parameters (H57)", parameters.count <= 256)
            let query = parameters.map { "\(escaped($0.name))=\(escaped($0.value))" }
            let again = try? RequestTarget("/?" + query.joined(separator: "&")).parameters()
            invariant(
                "parameters escaped and decoded are the same",
                again.map { again in again.map(bytes) == parameters.map(bytes) } == true)
        }
    }

    private static func same(_ target: RequestTarget, _ segments: [String]) -> Bool {
        let again = try? target.segments()
        return again.map { again in again.map { Array($0.utf8) } == segments.map { Array($0.utf8) }
        }
            == true
    }

    private static func bytes(_ parameter: (name: String, value: String)) -> [[UInt8]] {
        [Array(parameter.name.utf8), Array(parameter.value.utf8)]
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
