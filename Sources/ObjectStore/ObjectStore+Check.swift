internal import Locking

extension ObjectStore {
    /// Asks the store for something small, so that a server that starts with a missing bucket, wrong
    /// credentials, a wrong region, a certificate nobody believes or a clock that is off says so at once.
    ///
    /// It needs the right to list multipart uploads, as cleaning up does.
    ///
    /// - Returns: By how many milliseconds the store's clock is ahead of ours, where the store complained
    ///   and its time was taken over; 0 where it did not.
    public func check() async throws(ObjectStoreError) -> Int64 {
        _ = try await page("check", after: nil, atMost: 1)
        return offset.withLock { $0 }
    }
}
