internal import HTTP

extension AppendOutcome {
    /// The answer in the words of dialect A (§5.4–5.7); dialect D never sees the first two.
    func response(wantsNo308: Bool) throws(UploadError) -> Response {
        switch self {
        case .complete(let answer), .completeBefore(let answer):
            return FinalResponse.response(answer)
        case .dropped: return .dropped
        case .misplaced where wantsNo308: throw .offsetMismatch
        case .held(let offset), .misplaced(let offset):
            // Never a Location: HTTP libraries would follow it and send the chunk again.
            var response = Response(wantsNo308 ? .ok : .resumeIncomplete)
            if wantsNo308 { response.fields.add("X-Http-Status-Code-Override", "308") }
            // With nothing held the field is left out: `0-0` would mean one byte.
            if offset > 0 { response.fields.add("Range", "bytes=0-\(offset - 1)") }
            return response
        }
    }
}
