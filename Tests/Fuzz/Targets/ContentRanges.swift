@testable import Uploads

/// The `Content-Range` of an upload.
enum ContentRanges {
    static func check(_ input: [UInt8]) {
        guard let text = String(validating: input, as: UTF8.self), let range = ContentRange(text)
        else { return }
        invariant("a range written again is the same", ContentRange(written(range)) == range)
        if case .part(let first, let last, let total) = range {
            invariant(
                "a range lies in its content", first >= 0 && first <= last && last < total ?? .max)
        }
    }

    private static func written(_ range: ContentRange) -> String {
        let whole = { (total: Int64?) in total.map { total in "\(total)" } ?? "*" }
        return switch range {
        case .part(let first, let last, let total): "bytes \(first)-\(last)/\(whole(total))"
        case .rest(let first, let total): "bytes \(first)-*/\(whole(total))"
        case .query(let total): "bytes */\(whole(total))"
        }
    }
}
