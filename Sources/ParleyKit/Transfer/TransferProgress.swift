/// How far a transfer is.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes that have been transferred.
    public let completed: Int64
    /// The bytes to transfer.
    public let total: Int64
    /// Whether it was paused, until it is resumed.
    public let isPaused: Bool
    /// Whether it has ended: all bytes were transferred, or it has failed or was cancelled.
    public let isFinished: Bool
    /// Whether it was cancelled.
    public let isCancelled: Bool

    init(
        completed: Int64, total: Int64, isPaused: Bool = false, isFinished: Bool = false,
        isCancelled: Bool = false
    ) {
        self.completed = completed
        self.total = total
        self.isPaused = isPaused
        self.isFinished = isFinished
        self.isCancelled = isCancelled
    }

    /// The share of the bytes that have been transferred, 0 to 1; of nothing, 1 at the end.
    public var fractionCompleted: Double {
        total > 0 ? Double(completed) / Double(total) : isFinished ? 1 : 0
    }

    /// The progress of several transfers together, by their bytes.
    ///
    /// It is paused if all that have not ended are, finished if all are, and cancelled if all were.
    public static func aggregate(_ members: some Sequence<TransferProgress>) -> TransferProgress {
        var (completed, total): (Int64, Int64) = (0, 0)
        var (hasMembers, hasRunning, hasUnpaused, hasUncancelled) = (false, false, false, false)
        for member in members {
            completed = completed.addingWithinBounds(member.completed)
            total = total.addingWithinBounds(member.total)
            hasMembers = true
            if !member.isFinished {
                hasRunning = true
                if !member.isPaused { hasUnpaused = true }
            }
            if !member.isCancelled { hasUncancelled = true }
        }
        return TransferProgress(
            completed: completed, total: total, isPaused: hasRunning && !hasUnpaused,
            isFinished: !hasRunning, isCancelled: hasMembers && !hasUncancelled)
    }
}

extension Int64 {
    /// The sum of two numbers that are not negative, at most `Int64.max`.
    fileprivate func addingWithinBounds(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
