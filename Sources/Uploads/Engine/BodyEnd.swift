internal import HTTP

/// How the body of a request ended.
enum BodyEnd: Sendable, Equatable {
    /// Every announced byte came.
    case clean
    /// A byte came that has no place.
    case over
    /// It broke off.
    case broken(BodyError)
}

extension RequestBody {
    /// Whether nothing comes; a chunked body shows only when read.
    var isEmpty: Bool {
        get async {
            if let length { return length == 0 }
            var buffer = BodyBuffer(capacity: 1)
            return await fill(&buffer) == .clean
        }
    }

    /// Fills a buffer; `nil` while more may follow.
    func fill(_ buffer: inout BodyBuffer) async -> BodyEnd? {
        do throws(BodyError) {
            try await read(into: &buffer)
            return buffer.count == 0 ? .clean : nil
        } catch {
            buffer.removeAll()
            return .broken(error)
        }
    }
}
