internal import SystemSupport

/// The state of an upload that other processes may continue (§10.5, §11.4).
struct RecordSharing {
    /// Whether the record was just loaded, so that it need not be compared with the stored one.
    fileprivate var isFresh = true
    /// Another process has taken over; the next request needs a new `Upload`.
    fileprivate var isFenced = false
}

extension Upload {
    /// Whether another process may replace the record.
    var isShared: Bool { engine.shared != nil }

    /// Makes sure that no other process writes. A process that is writing commits what it has received and stops;
    /// when it does not reply in time, the upload continues from its last commit.
    ///
    /// - Parameter isWriting: A body is about to be received, and other processes may request its offset.
    func takeFromOtherProcesses(isWriting: Bool = false) async throws(UploadError) {
        guard isShared else { return }
        do throws(StorageError) {
            let stopped = try await handle.askWriter(to: .stop)
            if let stopped { adopt(stopped) }
            // The other process may have received the last byte.
            guard stopped == nil || record.mayExpire else { return }
            let current = try await handle.take(isWriting: isWriting)
            if let current { adopt(current) }
            if stopped != nil || current != nil {
                engine.count { traffic in traffic.takeovers += 1 }
            }
        } catch {
            throw UploadError(error)
        }
    }

    /// Whether the record is the stored one. When another process has replaced it, the remaining requests of
    /// this process are stopped.
    ///
    /// - Throws: ``UploadError/notFound`` when the record was deleted.
    func isCurrent() async throws(UploadError) -> Bool {
        guard isShared, !sharing.isFresh else {
            sharing.isFresh = false
            return !sharing.isFenced
        }
        do throws(StorageError) {
            guard let current = try await handle.change() else { return !sharing.isFenced }
            guard turn.isTaken || finishing.isRunning else {
                adopt(current)
                return !sharing.isFenced
            }
            markFenced()
            return false
        } catch {
            throw error == .missing ? .notFound : UploadError(error)
        }
    }

    /// Records that another process has taken over: no change made here counts any more.
    func markFenced() {
        sharing.isFenced = true
        interrupt()
        cancelFinishing()
    }

    /// Checks whether another process has taken over or has sent a request.
    func checkOtherProcesses() async {
        guard isShared, !sharing.isFenced else { return }
        // When the registry cannot be reached, the next check tries again.
        if (try? await handle.change()) != nil { return markFenced() }
        if let request = handle.request { await answer(request) }
    }

    /// Makes the process that receives the body commit what it has received, and adopts its record.
    func commitInOtherProcess() async {
        guard isShared, !sharing.isFenced else { return }
        // When that process cannot be reached, its last commit counts.
        guard let current = try? await handle.askWriter(to: .commit), !turn.isTaken else { return }
        adopt(current)
    }

    /// Carries out the request of another process.
    func answer(_ request: UploadWriterRequest) async {
        switch request {
        case .commit: await commitReceived()
        case .stop:
            let number = turn.number
            if turn.isTaken {
                interrupt()
                await waitForEnd(ofTurn: number)
            }
        }
        await handle.answer()
    }

    /// Renews this process's claim to finish the upload until its task is cancelled.
    func renewClaim() async {
        guard isShared else { return }
        while !Task.isCancelled {
            await engine.clock.sleep(SharedUploadRecords.renewalInterval)
            if Task.isCancelled { return }
            if await write(record) == .fenced { return markFenced() }
        }
    }
}
