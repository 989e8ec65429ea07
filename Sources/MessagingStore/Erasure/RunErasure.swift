public import Messaging
import SQL

/// What an erasure does with uploads, whose records are not rows of the store.
public struct ErasureUploads: Sendable {
    /// Cancels the uploads of a user and deletes their records; returns their number.
    public let remove: @Sendable (UserID, Application.ID) async throws -> Int64
    /// The number of records of uploads, and of those that name a user.
    public let count: @Sendable (UserID, Application.ID) async throws -> (all: Int64, named: Int64)

    /// All members.
    public init(
        remove: @escaping @Sendable (UserID, Application.ID) async throws -> Int64,
        count:
            @escaping @Sendable (UserID, Application.ID) async throws -> (
                all: Int64, named: Int64
            )
    ) {
        self.remove = remove
        self.count = count
    }
}

extension MessagingStore {
    /// Works on an erasure until it has ended, or its proof or another round is due after a pause (X16). Interrupted at any
    /// time, it continues when this is called again.
    ///
    /// Pages of rows are read without a lock; only those that name the user are written, a few in each transaction, so
    /// other writers wait for these and not for the scan. Only one process may call this at a time; another one that
    /// took over is noticed by the revision of the erasure.
    ///
    /// - Throws: Faults, which the erasure stores. It is to be continued after a pause that doubles with each fault in
    ///   succession, and fails after `Erasure.attemptLimit` of them.
    public func runErasure(
        _ id: Erasure.ID, in application: Application.ID, bodies: ErasureBodies,
        uploads: ErasureUploads
    ) async throws {
        guard var work = try await erasureWork(id, in: application) else { return }
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

    private func erasureWork(
        _ id: Erasure.ID, in application: Application.ID
    ) async throws -> ErasureWork? {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: Erasure.columns), user_id, progress, revision, next_at FROM erasures
                WHERE application = \(application) AND id = \(id) AND state = 'running'
                """
            ) { row in
                var erasure = try Erasure(row)
                // The fault of the last attempt, which the next progress deletes.
                erasure.error = nil
                let count = Erasure.columnCount
                return ErasureWork(
                    application: application, user: try row.user(.index(count)),
                    erasure: erasure,
                    key: try row.optionalBlob(.index(count + 1)).map { bytes in
                        try ErasureWork.key(bytes)
                    }, revision: try row.int64(.index(count + 2)),
                    nextAt: try row.timestamp(.index(count + 3)))
            }
        }
    }

    /// Stores a fault, and when the erasure is continued, unless another process has continued it.
    private func noteFault(_ error: any Error, of work: ErasureWork) async throws {
        let (application, id) = (work.application, work.erasure.id)
        // Other errors may have the values of rows.
        let name = (error as? StoreFault).map { fault in "\(fault)" } ?? "\(type(of: error))"
        let text = "The last attempt has ended with a fault, see the log of the server: \(name)."
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
            guard faults < Erasure.attemptLimit else {
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
    private static let pagesBetweenSteps = 64

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
                let time = try await step(&work) { context, work in
                    try context.namingErasedUsers().erase(
                        rows, of: table, page.payloads, for: work.erasure.id)
                }
                size.adjust(to: time, for: rows.count)
            }
            work.key = page.last
            try await saveSometimes(&work)
            if page.isLast { return }
        }
    }

    private func save(_ work: inout ErasureWork) async throws {
        _ = try await step(&work) { _, _ in }
    }

    /// Counts a page, and stores the progress after some of them.
    private func saveSometimes(_ work: inout ErasureWork) async throws {
        work.unsavedPages += 1
        if work.unsavedPages >= Self.pagesBetweenSteps { try await save(&work) }
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
                try transaction.addOwned(
                    in: rows, to: &payloads, for: work.erasure.id, in: work.application)
            }
            let named = try rows.filter { row in try table.names(payloads, row) }
            return ErasurePage(
                named: named, payloads: payloads, count: rows.count,
                last: rows.last?.key ?? work.key,
                isLast: !found.isCut && rows.count < table.pageSize)
        }
    }

    /// Changes rows and stores the progress of the erasure, in one transaction.
    ///
    /// - Throws: `LeaseLost` when another process has made a step.
    private func step(
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
        _ = try await step(&work) { context, work in
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

/// An erasure with its user and its progress.
private struct ErasureWork: Sendable {
    let application: Application.ID
    let user: UserID
    var erasure: Erasure
    /// The key of the last row of the table that is done; `nil` for none.
    var key: [SQLValue]?
    var revision: Int64
    /// The moment from which it is worked on.
    var nextAt: Timestamp
    /// The number of pages that were read since the progress was stored.
    var unsavedPages = 0

    /// The name under which uploads are counted.
    static let uploads = "uploads"

    /// The tables that are not finished.
    var tables: ArraySlice<ErasureTable> {
        let all = ErasureTable.allCases
        return all[(all.firstIndex { table in table.rawValue == erasure.table } ?? 0)...]
    }

    mutating func begin(_ table: ErasureTable) {
        erasure.table = table.rawValue
        key = nil
    }

    mutating func finishTables() {
        erasure.table = nil
        key = nil
    }

    mutating func count(_ table: String, _ change: (inout Erasure.Count) -> Void) {
        let index = erasure.counts.firstIndex { count in count.table == table }
        guard let index else {
            erasure.counts.append(Erasure.Count(table))
            return change(&erasure.counts[erasure.counts.count - 1])
        }
        change(&erasure.counts[index])
    }

    /// Lists all tables in their order.
    mutating func listTables() {
        for table in [Self.uploads] + ErasureTable.allCases.map(\.rawValue) {
            count(table) { _ in }
        }
    }

    /// Sets the counts of the proof to 0.
    mutating func resetProof() {
        for index in erasure.counts.indices {
            erasure.counts[index].scanned = 0
            erasure.counts[index].remaining = 0
        }
    }

    /// Encodes a key for a column.
    static func encoded(_ key: [SQLValue]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(each: key) { writer, value in
            switch value {
            case .blob(let bytes):
                writer.write(byte: 0)
                writer.write(bytes)
            case .text(let text):
                writer.write(byte: 1)
                writer.write(text)
            default:
                writer.write(byte: 2)
                writer.write(value.number)
            }
        }
        return writer.bytes
    }

    /// Decodes a key.
    static func key(_ bytes: [UInt8]) throws -> [SQLValue] {
        var reader = ByteReader(bytes)
        return try reader.each { reader in
            switch try reader.byte() {
            case 0: .blob(try reader.bytes())
            case 1: .text(try reader.text())
            default: .integer(try reader.number())
            }
        }
    }
}

extension Transaction {
    /// Stores the progress of an erasure. The id of the user is deleted when it is completed.
    ///
    /// - Throws: `LeaseLost` when the erasure has another revision.
    fileprivate func save(_ work: ErasureWork) throws {
        let erasure = work.erasure
        let changed = try rowsChanged(
            by: """
                UPDATE erasures SET
                    user_id = \(erasure.state == .completed ? nil : work.user),
                    state = \(erasure.state.rawValue), round = \(erasure.round),
                    step = \(erasure.table), progress = \(work.key.map(ErasureWork.encoded)),
                    is_proving = \(erasure.isProving), revision = \(work.revision + 1),
                    counts = \(erasure.encodedCounts), digest = \(erasure.digest),
                    error = \(erasure.error), ended_at = \(erasure.endedAt), faults = 0,
                    next_at = \(work.nextAt)
                WHERE application = \(work.application) AND id = \(erasure.id)
                    AND revision = \(work.revision)
                """)
        guard changed == 1 else { throw LeaseLost() }
    }
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
