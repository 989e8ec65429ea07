internal import Blobs
internal import HTTP

extension Upload {
    /// Commits what a body brought and says what it means; `nil` when the content is whole.
    func settle(
        _ append: Append, _ arrival: Arrival, _ file: StagedFile
    ) async throws(UploadError) -> AppendOutcome? {
        if let fault = arrival.fault {
            // Of a full disk, what did fit is worth keeping (§11.7); a broken one is not asked.
            // After a failed sync nothing written since the last one is believed.
            if case .disk(let error) = fault, error.isOfWriting && error.kind == .full {
                _ = await commit(arrival.transfer, file)
            }
            throw UploadError(fault)
        }
        guard arrival.end == .clean else {
            if let fault = await commit(arrival.transfer, file) { throw UploadError(fault) }
            return try answer(to: arrival)
        }
        switch length(append, arrival.transfer.position) {
        case .open:
            if let fault = await commit(arrival.transfer, file) { throw UploadError(fault) }
            return .held(record.offset)
        case .wrong:
            if let fault = await commit(arrival.transfer, file) { throw UploadError(fault) }
            throw .lengthMismatch(
                "The body ended before the length of the upload; send the missing bytes from the offset that HEAD reports."
            )
        case .ends(let length):
            try await complete(arrival.transfer, length: length, file)
            return nil
        }
    }

    /// Fixes the length, makes everything durable and begins to finish (§1.4).
    func complete(
        _ transfer: Transfer, length: Int64, _ file: StagedFile?
    ) async throws(UploadError) {
        let fault = await commit(transfer, file) { record in
            record.length = length
            record.state = .finalizing
        }
        if let fault { throw UploadError(fault) }
    }

    /// The answer to a body that did not end cleanly; its bytes are dealt with already.
    func answer(to arrival: Arrival) throws(UploadError) -> AppendOutcome {
        switch arrival.end {
        case .clean: return .held(record.offset)
        case .over: throw arrival.overflow
        case .broken(.stalled): throw .stalled
        case .broken(.refused(let refusal)): throw .invalid(refusal.reason)
        case .broken(.interrupted): return .dropped
        case .broken(.superseded):
            if isStopping { throw .stalled }
            return .dropped
        }
    }

    private enum Extent {
        case open
        case wrong
        case ends(Int64)
    }

    /// What a clean end at a position says about the length of the content.
    private func length(_ append: Append, _ position: Int64) -> Extent {
        let held = max(position, record.offset)
        switch (append.end, record.length) {
        case (.never, _): return .open
        case (.atLength, let length?), (.atCleanEnd, let length?):
            return held == length ? .ends(length) : .open
        case (.atLength, nil): return .open
        case (.always, let length?): return position == length ? .ends(length) : .wrong
        case (.atCleanEnd, nil), (.always, nil):
            return position >= record.offset ? .ends(position) : .wrong
        }
    }
}
