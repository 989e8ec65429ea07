public import Messaging
import SQL

extension MessagingStore {
    /// Works on an erasure until it has ended, or its proof or another round is due after a pause (X16). Interrupted at any
    /// time, it continues when this is called again.
    ///
    /// Pages of rows are read without a lock; only those that name the user are written, a few in each transaction, so
    /// other writers wait for these and not for the scan. Call it in one process at a time. When another process has taken
    /// over, the next write throws `LeaseLost`.
    ///
    /// - Throws: Faults, which the erasure stores. The next attempt is due after a pause, which doubles with each fault in
    ///   succession. After `Erasure.faultLimit` faults the erasure fails.
    public func runErasure(
        _ id: Erasure.ID, in application: Application.ID, bodies: ErasureBodies,
        uploads: ErasureUploads
    ) async throws {
        let found = try await database.read { transaction in
            try transaction.erasureWork(id, in: application)
        }
        guard var work = found else { return }
        do {
            try await runRound(&work, bodies, uploads)
        } catch {
            if !(error is CancellationError), !(error is LeaseLost), !Task.isCancelled {
                // If this fails too, the next attempt is made without a pause.
                try? await noteFault(error, of: work)
            }
            throw error
        }
    }

    private func runRound(
        _ work: inout ErasureWork, _ bodies: ErasureBodies, _ uploads: ErasureUploads
    ) async throws {
        guard work.erasure.isProving else {
            try await erase(&work, bodies, uploads)
            return try await beginProof(&work)
        }
        try await prove(&work, bodies, uploads)
    }

    /// Stores a fault, and when the erasure is continued, unless another process has continued it.
    private func noteFault(_ error: any Error, of work: ErasureWork) async throws {
        let (application, id) = (work.application, work.erasure.id)
        // Other errors may have the values of rows.
        let name = (error as? StoreFault).map { fault in "\(fault)" } ?? "\(type(of: error))"
        let text = "The last attempt failed (\(name)); the server log has the details."
        try await change(in: application) { context in
            let faults = try context.transaction.first(
                """
                UPDATE erasures SET faults = faults + 1, error = \(text), revision = revision + 1
                WHERE application = \(application) AND id = \(id) AND state = 'running'
                    AND revision = \(work.revision)
                RETURNING faults
                """
            ) { row in try row.int64(0) }
            guard let faults else { return }
            guard faults < Erasure.faultLimit else {
                try context.transaction.execute(
                    """
                    UPDATE erasures SET state = 'failed', ended_at = \(context.now), digest = NULL
                    WHERE application = \(application) AND id = \(id)
                    """)
                return try context.transaction.addRunningErasures(-1, in: application)
            }
            try context.transaction.execute(
                """
                UPDATE erasures SET next_at = \(context.now.addingPause(faults))
                WHERE application = \(application) AND id = \(id)
                """)
        }
    }

    // MARK: Erasing

    private func erase(
        _ work: inout ErasureWork, _ bodies: ErasureBodies, _ uploads: ErasureUploads
    ) async throws {
        if work.erasure.table == nil {
            work.listTables()
            let removed = try await uploads.remove(work.user, work.application)
            work.count(ErasureWork.uploads) { count in count.erased += removed }
            if removed > 0 { try await save(&work) }
        }
        for table in work.tables {
            if work.erasure.table != table.rawValue { work.begin(table) }
            try await erase(table, &work, bodies)
        }
    }

    /// The number of pages, of one table or several, after which the progress is stored if nothing else is written.
    private static let pagesBetweenWrites = 64

    private func erase(
        _ table: ErasureTable, _ work: inout ErasureWork, _ bodies: ErasureBodies
    ) async throws {
        var size = BatchSize(8, in: 1...256, taking: .milliseconds(20))
        while true {
            try Task.checkCancellation()
            let page = try await readPage(of: table, work, bodies)
            var rest = page.named[...]
            while !rest.isEmpty {
                let rows = Array(rest.prefix(size.count))
                rest = rest.dropFirst(rows.count)
                work.count(table.rawValue) { count in count.erased += Int64(rows.count) }
                work.key = rest.isEmpty ? page.last : rows.last?.key
                let time = try await write(&work) { context, work in
                    let context = context.namingErasedUsers()
                    for row in rows {
                        try context.erase(row, of: table, page.payloads, for: work.erasure.id)
                    }
                }
                size.adjust(to: time, for: rows.count)
            }
            work.key = page.last
            try await saveSometimes(&work)
            if page.isLast { return }
        }
    }

    private func save(_ work: inout ErasureWork) async throws {
        _ = try await write(&work) { _, _ in }
    }

    /// Counts a page, and stores the progress after some of them.
    private func saveSometimes(_ work: inout ErasureWork) async throws {
        work.unsavedPages += 1
        if work.unsavedPages >= Self.pagesBetweenWrites { try await save(&work) }
    }

    /// Reads the next page of a table, and finds its rows that name the user.
    private func readPage(
        of table: ErasureTable, _ work: ErasureWork, _ bodies: ErasureBodies
    ) async throws -> ErasurePage {
        try await database.read { transaction in
            var payloads = ErasedPayloads(
                user: work.user, erased: work.erasure.erasedUser, bodies: bodies)
            let isDescending = table == .events && !work.erasure.isProving
            let found = try transaction.boundedPage(
                of: table, after: work.key, isDescending: isDescending, in: work.application)
            var rows = found.items
            if table == .events {
                rows = try rows.map { row in try payloads.decodingEvent(of: row) }
                try transaction.addObjectsOfUser(
                    in: rows, to: &payloads, for: work.erasure.id, in: work.application)
            }
            let named = try rows.filter { row in try table.namesUser(payloads, row) }
            return ErasurePage(
                named: named, payloads: payloads, count: rows.count,
                last: rows.last?.key ?? work.key,
                isLast: !found.isCut && rows.count < table.pageSize)
        }
    }

    /// Changes rows and stores the progress of the erasure, in one transaction.
    ///
    /// - Throws: `LeaseLost` when another process has written.
    private func write(
        _ work: inout ErasureWork,
        _ body: @escaping @Sendable (MutationContext, ErasureWork) throws -> Void
    ) async throws -> TransactionTime {
        let current = work
        let time = try await timedChange(in: work.application) { context in
            try body(context, current)
            try context.transaction.save(current)
        }.time
        work.revision += 1
        work.unsavedPages = 0
        return time
    }

    // MARK: Proving

    /// Makes the proof due after a pause. Meanwhile requests end that have read the user before and check nothing when they
    /// write: uploads that begin, push tokens, answers under idempotency keys, and bodies of webhooks.
    private func beginProof(_ work: inout ErasureWork) async throws {
        work.resetProof()
        work.erasure.isProving = true
        work.erasure.digest = environment.sha256([])
        work.finishTables()
        work.nextAt = Timestamp(milliseconds: environment.now().milliseconds + 2000)
        try await save(&work)
    }

    /// Scans all rows of all tables, and ends the erasure if none names the user; otherwise the next round is due after a
    /// pause, in which short causes end, such as a transaction that has read the user before.
    private func prove(
        _ work: inout ErasureWork, _ bodies: ErasureBodies, _ uploads: ErasureUploads
    ) async throws {
        if work.erasure.table == nil {
            let records = try await uploads.count(work.user, work.application)
            work.count(ErasureWork.uploads) { count in
                count.scanned = records.all
                count.remaining = records.named
            }
        }
        for table in work.tables {
            if work.erasure.table != table.rawValue { work.begin(table) }
            while true {
                try Task.checkCancellation()
                let page = try await readPage(of: table, work, bodies)
                work.count(table.rawValue) { count in
                    count.scanned += Int64(page.count)
                    count.remaining += Int64(page.named.count)
                }
                for row in page.named {
                    let digest = work.erasure.digest ?? []
                    work.erasure.digest = environment.sha256(
                        digest + Array(table.rawValue.utf8) + [0] + ErasureWork.encoded(row.key))
                }
                work.key = page.last
                try await saveSometimes(&work)
                if page.isLast { break }
            }
        }
        work.finishTables()
        let remaining = work.erasure.counts.filter { count in count.remaining > 0 }
        if remaining.isEmpty {
            work.erasure.state = .completed
        } else if work.erasure.round >= Erasure.roundLimit {
            work.erasure.state = .failed
            let tables = remaining.map { count in "\(count.remaining) of \(count.table)" }
            work.erasure.error =
                "Rows that name the user remain after \(Erasure.roundLimit) rounds: "
                + "\(tables.joined(separator: ", "))."
        } else {
            work.nextAt = environment.now().addingPause(work.erasure.round)
            work.erasure.round += 1
            work.erasure.isProving = false
            work.erasure.digest = nil
        }
        let hasEnded = work.erasure.state != .running
        if hasEnded { work.erasure.endedAt = environment.now() }
        _ = try await write(&work) { context, work in
            guard hasEnded else { return }
            if work.erasure.state == .completed {
                try context.transaction.execute(
                    """
                    DELETE FROM erased_contents
                    WHERE application = \(work.application) AND erasure = \(work.erasure.id)
                    """)
            }
            try context.transaction.addRunningErasures(-1, in: work.application)
        }
    }
}

extension Timestamp {
    /// A pause later: 1 second after the first attempt, and twice as long after each further one, at most 60 seconds.
    fileprivate func addingPause(_ attempt: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds + min(60_000, 1000 << min(attempt - 1, 6)))
    }
}

/// A page of rows of a table.
private struct ErasurePage: Sendable {
    /// The rows that name the user or belong to them.
    let named: [ErasureTable.Entry]
    let payloads: ErasedPayloads
    /// The number of rows that were read.
    let count: Int
    /// The key of the last one.
    let last: [SQLValue]?
    let isLast: Bool
}

extension Transaction {
    /// Reads a page of a table, with fewer rows than its maximum if they are large.
    fileprivate func boundedPage(
        of table: ErasureTable, after key: [SQLValue]?, isDescending: Bool,
        in application: Application.ID
    ) throws -> BoundedPage<ErasureTable.Entry> {
        let keys = table.layout.start.count
        let columns = table.layout.columns.description.split(separator: ",").count
        let sql = table.page(
            after: key, limit: table.pageSize, isDescending: isDescending, in: application)
        var (budget, isCut) = (ResponseBudget(), false)
        let rows = try prefix(sql) { row in
            let entry = ErasureTable.Entry(
                key: try (0..<keys).map { index in try row.value(.index(index)) },
                values: try (keys..<keys + columns).map { index in try row.value(.index(index)) })
            isCut = !budget.admits(entry.values.reduce(0) { sum, value in sum + value.byteCount })
            return isCut ? nil : entry
        }
        return BoundedPage(items: rows, isCut: isCut)
    }
}

extension SQLValue {
    /// The number of bytes of a text or of bytes; 0 for another value.
    fileprivate var byteCount: Int64 {
        switch self {
        case .blob(let bytes): Int64(bytes.count)
        case .text(let text): Int64(text.utf8.count)
        default: 0
        }
    }
}
