internal import Blobs

/// The state of commits made while a sender is quiet.
struct QuietCommits {
    /// What is written and waits, while nothing is being written.
    var resting: Transfer?
    /// The commit that runs now.
    var running: Task<DiskError?, Never>?
    /// A commit failed; the open file is not to be trusted any more.
    var fault: DiskError?
}

extension Upload {
    /// Commits what a sender left behind when it fell silent (§4.1: by time, not only by bytes).
    ///
    /// Writing commits by itself while bytes come; without this, the last buffer before a pause
    /// would wait for the end of the pause.
    func commitWhenQuiet(_ file: StagedFile) -> Task<Void, Never> {
        let (clock, interval) = (engine.clock, engine.settings.commitInterval)
        return Task {
            while !Task.isCancelled {
                await clock.sleep(interval)
                if !Task.isCancelled { await commitResting(file) }
            }
        }
    }

    /// Waits for a commit of a quiet moment; what it left wrong, if anything.
    func endQuiet() async -> DiskError? {
        quiet.resting = nil
        if let running = quiet.running { _ = await running.value }
        return quiet.fault
    }

    private func commitResting(_ file: StagedFile) async {
        guard let transfer = quiet.resting, transfer.written > record.offset else { return }
        quiet.resting = nil
        let running = Task { await commit(transfer, file) }
        quiet.running = running
        quiet.fault = await running.value
        quiet.running = nil
    }
}
