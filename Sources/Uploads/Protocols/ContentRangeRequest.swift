internal import HTTP

/// The `Content-Range` of a request: the position of its body in the content (§5.2).
///
/// ```
/// bytes FIRST-LAST/TOTAL    bytes FIRST-LAST/*
/// bytes FIRST-*/TOTAL       bytes FIRST-*/*
/// bytes */TOTAL             bytes */*
/// ```
///
/// The unit is case-insensitive, spaces around tokens are ignored, and digits are read as defined in §0. Two more
/// spellings of empty content are in use: `0-0/0` and `0--1/0`.
enum ContentRange: Equatable, Sendable {
    /// `F-L/T`, `F-L/*`
    case part(first: Int64, last: Int64, total: Int64?)
    /// `F-*/T`, `F-*/*`
    case rest(first: Int64, total: Int64?)
    /// `*/T`, `*/*`; also the spellings of empty content.
    case query(total: Int64?)

    /// Parses a header value; `nil` when it has none of these forms.
    init?(_ value: String) {
        let value = value.trimmed
        guard value.utf8.count > 5, value.prefix(5).lowercased() == "bytes" else { return nil }
        let rest = value.dropFirst(5)
        guard rest.first == " " || rest.first == "\t" else { return nil }
        let halves = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let (range, size) = (halves[0].trimmed, halves[1].trimmed)
        let total = Int64(decimal: size.utf8)
        guard total != nil || size == "*" else { return nil }
        if range == "*" {
            self = .query(total: total)
        } else {
            self.init(range: range, total: total)
        }
    }

    private init?(range: Substring, total: Int64?) {
        guard let dash = range.firstIndex(of: "-") else { return nil }
        let (from, to) = (range[..<dash].trimmed, range[range.index(after: dash)...].trimmed)
        guard let first = Int64(decimal: from.utf8) else { return nil }
        if total == 0 && first == 0 && (to == "0" || to == "-1") {
            self = .query(total: 0)
        } else if to == "*" {
            if let total, first > total { return nil }
            self = .rest(first: first, total: total)
        } else if let last = Int64(decimal: to.utf8), last >= first, last < total ?? .max {
            self = .part(first: first, last: last, total: total)
        } else {
            return nil
        }
    }
}

/// A `PUT` or `POST` to an upload in protocol A or D, parsed from its header (§5.2, §8).
struct ContentRangeRequest: Sendable {
    /// The purpose of the request.
    enum Action: Sendable {
        case append(AppendRequest)
        /// A status query; the body must be empty.
        case query(total: Int64?)
    }

    let action: Action
    /// Whether the client treats a real 308 as an error (§5.4).
    let wantsNo308: Bool

    /// Parses the header of a request.
    ///
    /// - Throws: ``UploadError``; nothing of the body is read then.
    init(_ request: Request) throws(UploadError) {
        let fields = request.fields
        try request.requirePlainBody()
        wantsNo308 = fields["X-GUploader-No-308"]?.lowercased() == "yes"
        let length = request.framing.bodyLength
        guard let text = try fields.single("Content-Range") else {
            var append = try ContentRangeRequest.append(
                fields, AppendRequest(first: 0, total: length, bodyLength: length, end: .always))
            // Form libraries send a Content-Type with every POST, whatever the body is (ruling 22).
            if request.method == .post { append.mediaType = nil }
            action = .append(append)
            return
        }
        guard let range = ContentRange(text) else {
            throw .invalid(
                "Content-Range must be bytes FIRST-LAST/TOTAL, bytes FIRST-*/TOTAL or bytes */TOTAL, with numbers below 2^63 and * for an unknown TOTAL."
            )
        }
        action = try ContentRangeRequest.action(range, length, fields)
    }

    private static func action(
        _ range: ContentRange, _ length: Int64?, _ fields: Fields
    ) throws(UploadError) -> Action {
        var append: AppendRequest
        switch range {
        case .query(let total):
            if let length, length > 0 { throw .queryWithBody }
            return .query(total: total)
        case .part(let first, let last, let total):
            append = AppendRequest(
                first: first, last: last, total: total, bodyLength: length, end: .atLength)
        case .rest(let first, let total):
            append = AppendRequest(
                first: first, total: total, bodyLength: length,
                end: total == nil ? .atCleanEnd : .atLength)
        }
        append.wantsMD5 = true
        return .append(try self.append(fields, append))
    }

    /// Adds the digests and the media type.
    private static func append(
        _ fields: Fields, _ append: AppendRequest
    ) throws(UploadError) -> AppendRequest {
        var append = append
        append.declared = try DeclaredDigests(lines: fields.values("X-Goog-Hash"))
        if let text = try fields.single("Content-MD5") {
            let value = try DeclaredDigests.bytes(text.trimmed, count: 16, in: "Content-MD5")
            append.bodyDigests = [BodyDigest(algorithm: .md5, value: value)]
        }
        append.mediaType = fields["Content-Type"]
        append.awaitsContinue = fields.contains("Expect")
        return append
    }
}

extension UploadError {
    /// A status query with a body.
    static let queryWithBody = UploadError.invalid(
        "Content-Range: bytes */TOTAL asks for the offset and must have no body; name the bytes of the body in Content-Range."
    )
}
