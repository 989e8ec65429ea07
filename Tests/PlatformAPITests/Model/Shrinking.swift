/// The search for a minimal sequence that still fails (delta debugging): first whole chunks are removed,
/// then ever smaller ones, at last single elements.
///
/// - Parameters:
///   - sequence: One that fails.
///   - tries: How many subsequences are tried at most.
///   - fails: Whether a subsequence fails.
/// - Returns: A subsequence that fails; if `tries` was enough, no single element of it can be removed.
func shrunk<Element>(
    _ sequence: [Element], tries: Int = 400,
    while fails: ([Element]) async throws -> Bool
) async rethrows -> [Element] {
    var (kept, left, size) = (sequence, tries, max(1, sequence.count / 2))
    while true {
        var (start, hasChanged) = (0, false)
        while start < kept.count {
            guard left > 0 else { return kept }
            left -= 1
            var shorter = kept
            shorter.removeSubrange(start..<min(start + size, kept.count))
            if try await fails(shorter) {
                (kept, hasChanged) = (shorter, true)
            } else {
                start += size
            }
        }
        if size == 1, !hasChanged { return kept }
        if !hasChanged || size > kept.count { size = max(1, size / 2) }
    }
}
