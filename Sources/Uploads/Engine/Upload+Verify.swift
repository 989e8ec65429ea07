internal import Blobs
internal import Digests
internal import HTTP
internal import Locking

extension Upload {
    /// Compares a body with the digests stated of it, in front of it or behind it (§4.4, §6.8).
    ///
    /// - Throws: ``UploadError/checksumMismatch``, or what is wrong with the trailers.
    func verify(
        _ append: Append, _ arrival: Arrival, _ body: any RequestBody, _ file: StagedFile
    ) async throws(UploadError) {
        if arrival.isWrong(append.bodyDigests) { throw .checksumMismatch }
        guard let trailer = append.trailer else { return }
        let range = append.first..<arrival.transfer.written
        for stated in try trailer(await body.trailer) {
            guard try await digest(stated.algorithm, of: file, range) == stated.value else {
                throw .checksumMismatch
            }
        }
    }

    /// The digest of bytes just written.
    ///
    /// Only a trailer says which one is wanted, so they are read again, out of the page cache; piece
    /// by piece, because others wait for the disk's queue.
    private func digest(
        _ algorithm: DigestAlgorithm, of file: StagedFile, _ range: Range<Int64>
    ) async throws(UploadError) -> [UInt8] {
        var running = algorithm.kind.init()
        var place = range.lowerBound
        while place < range.upperBound {
            let (so, start) = (running, place)
            let count = Int(min(range.upperBound - start, 256 << 10))
            do throws(DiskError) {
                running = try await queue.run { () throws(DiskError) in
                    var running = so
                    let bytes = try file.read(count, at: start)
                    guard bytes.count == count else {
                        throw DiskError(kind: .damaged, operation: "verify")
                    }
                    running.update(bytes.span)
                    return running
                }
            } catch {
                throw UploadError(error)
            }
            place += Int64(count)
        }
        return running.digest
    }
}
