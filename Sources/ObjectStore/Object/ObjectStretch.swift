internal import HTTP

/// Which bytes of which object an answer to GET holds.
struct ObjectStretch: Sendable, Equatable {
    /// Of the whole object, in bytes.
    let size: Int64
    /// What comes.
    let range: Range<Int64>
    let tag: String
    let type: String?

    /// `nil` when the answer is not to what was asked: a store that overlooks ranges would send other
    /// bytes than its reader takes them for.
    init?(status: Int, _ fields: Fields, asked: Range<Int64>?) {
        guard let tag = fields["ETag"] else { return nil }
        self.tag = tag
        type = fields["Content-Type"]
        guard let asked else {
            guard status == 200,
                let count = fields["Content-Length"].flatMap({ Int64(decimal: $0.utf8) })
            else { return nil }
            size = count
            range = 0..<count
            return
        }
        // bytes 0-9/100
        guard status == 206, let text = fields["Content-Range"], text.hasPrefix("bytes ") else {
            return nil
        }
        let numbers = text.dropFirst(6).split(omittingEmptySubsequences: false) {
            "-/".contains($0)
        }
        .map { Int64(decimal: $0.utf8) }
        guard numbers.count == 3, let first = numbers[0], let last = numbers[1],
            let size = numbers[2], first == asked.lowerBound, last < size,
            last == min(asked.upperBound, size) - 1, last >= first
        else { return nil }
        self.size = size
        range = first..<(last + 1)
    }
}
