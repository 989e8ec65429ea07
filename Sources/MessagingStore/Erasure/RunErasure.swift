public import Messaging
import SQL

/// What an erasure does with uploads, whose records are not rows of the store.
public struct ErasureUploads: Sendable {
    /// Cancels the uploads of a user and deletes their records; returns their number.
    public let forget: @Sendable (UserID, Application.ID) async throws -> Int64
    /// The number of records of uploads, and of those that name a user.
    public let count: @Sendable (UserID, Application.ID) async throws -> (all: Int64, named: Int64)

    /// All members.
    public init(
        forget: @escaping @Sendable (UserID, Application.ID) async throws -> Int64,
        count:
            @escaping @Sendable (UserID, Application.ID) async throws -> (
                all: Int64, named: Int64
            )
    ) {
        self.forget = forget
        self.count = count
    }
}

extension MessagingStore {
    /// Works on an erasure until it has ended (X16). Interrupted at any time, it continues when this is called again.
    ///
    /// Pages of rows are read without a lock; only those that name the user are written, a few in each transaction, so
    /// other writers wait for these and not for the search. Only one process may call this at a time; another one that
    /// took over is noticed by the revision of the erasure.
    public func runErasure(
        _ id: Erasure.ID, in application: Application.ID, bodies: ErasureBodies,
        uploads: ErasureUploads
    ) async throws {
        guard var work = try await erasureWork(id, in: application) else { return }
        while work.erasure.state == .running {
            if !work.erasure.isProving {
                try await erase(&work, bodies, uploads)
                work.erasure.isProving = true
            }
            try await prove(&work, bodies, uploads)
        }
    }

    private func erasureWork(
        _ id: Erasure.ID, in application: Application.ID
    ) async throws -> ErasureWork? {
        try await database.read { transaction in
            let count = 11
            return try transaction.first(
                """
                SELECT \(raw: Erasure.columns), user_id, progress, revision FROM erasures
                WHERE application = \(application) AND id = \(id) AND state = 'running'
                """
            ) { row in
                let erasure = try Erasure(row)
                return ErasureWork(
                    application: application, user: try row.user(.index(count)),
                    erasure: erasure,
                    key: try row.optionalBlob(.index(count + 1)).map { bytes in
                        try ErasureWork.key(bytes)
                    }, revision: try row.int64(.index(count + 2)))
            }
        }
    }

    // MARK: Erasing

    private func erase(
        _ work: inout ErasureWork, _ bodies: ErasureBodies, _ uploads: ErasureUploads
    ) async throws {
        if work.erasure.table == nil {
            work.listTables()
            let forgotten = try await uploads.forget(work.user, work.application)
            work.count(ErasureWork.uploads) { count in count.erased += forgotten }
        }
        let done = work.erasure.table.flatMap { name in ErasureTable(rawValue: name) }
        let tables = ErasureTable.allCases
        for table in tables.drop(while: { table in done != nil && table != done }) {
            if table != done { work.begin(table) }
            try await erase(table, &work, bodies)
        }
        work.begin(nil)
    }

    /// The number of pages without rows of the user after which the progress is stored.
    private static let pagesBetweenSteps = 64

    private func erase(
        _ table: ErasureTable, _ work: inout ErasureWork, _ bodies: ErasureBodies
    ) async throws {
        var size = BatchSize(8, in: 1...256, taking: .milliseconds(20))
        var pages = 0
        while true {
            try Task.checkCancellation()
            let page = try await page(of: table, work, bodies)
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
            pages += 1
            if page.isLast { return try await save(&work) }
            work.key = page.last
            if page.named.isEmpty, pages % Self.pagesBetweenSteps == 0 { try await save(&work) }
        }
    }

    private func save(_ work: inout ErasureWork) async throws {
        _ = try await step(&work) { _, _ in }
    }

    /// Reads the next page of a table.
    private func page(
        of table: ErasureTable, _ work: ErasureWork, _ bodies: ErasureBodies
    ) async throws -> ErasurePage {
        try await database.read { transaction in
            var payloads = ErasedPayloads(
                user: work.user, erased: work.erasure.erasedUser, bodies: bodies)
            let rows = try transaction.rows(
                table.page(after: work.key, limit: table.pageSize, in: work.application)
            ) { row in try table.entry(row) }
            if table == .events, !work.erasure.isProving {
                try transaction.find(
                    in: rows, &payloads, for: work.erasure.id, in: work.application)
            }
            let named = try rows.filter { row in
                try table.names(payloads, row)
                    || table == .events && payloads.isOwn(row)
            }
            return ErasurePage(
                named: named, payloads: payloads, count: rows.count,
                last: rows.last?.key ?? work.key, isLast: rows.count < table.pageSize)
        }
    }

    /// Changes rows and stores how far the erasure is, in one transaction.
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
        return time
    }

    // MARK: Proving

    /// Examines all rows of all tables, and ends the erasure if none names the user; otherwise the next round begins.
    private func prove(
        _ work: inout ErasureWork, _ bodies: ErasureBodies, _ uploads: ErasureUploads
    ) async throws {
        work.resetProof()
        var remains: [UInt8] = []
        let records = try await uploads.count(work.user, work.application)
        work.count(ErasureWork.uploads) { count in
            count.scanned = records.all
            count.remaining = records.named
        }
        for table in ErasureTable.allCases {
            work.begin(table)
            try await save(&work)
            while true {
                try Task.checkCancellation()
                let page = try await page(of: table, work, bodies)
                work.count(table.rawValue) { count in
                    count.scanned += Int64(page.count)
                    count.remaining += Int64(page.named.count)
                }
                for row in page.named where remains.count < ErasureWork.digestedBytes {
                    remains += Array(table.rawValue.utf8) + [0] + ErasureWork.encoded(row.key)
                }
                work.key = page.last
                if page.isLast { break }
            }
        }
        work.begin(nil)
        work.erasure.digest = environment.sha256(remains)
        let left = work.erasure.counts.filter { count in count.remaining > 0 }
        if left.isEmpty {
            work.erasure.state = .completed
        } else if work.erasure.round >= Erasure.roundLimit {
            work.erasure.state = .failed
            let tables = left.map { count in "\(count.remaining) of \(count.table)" }
            work.erasure.error =
                "Rows that name the user remain after \(Erasure.roundLimit) rounds: "
                + "\(tables.joined(separator: ", "))."
        } else {
            work.erasure.round += 1
            work.erasure.isProving = false
            work.erasure.digest = nil
        }
        let isOver = work.erasure.state != .running
        if isOver { work.erasure.endedAt = environment.now() }
        _ = try await step(&work) { context, work in
            guard isOver else { return }
            try context.transaction.execute(
                """
                DELETE FROM erased_contents
                WHERE application = \(work.application) AND erasure = \(work.erasure.id)
                """)
            try context.transaction.addRunningErasures(-1, in: work.application)
        }
    }
}

/// A page of rows that an erasure examines.
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

/// An erasure with its user, and how far it is.
private struct ErasureWork: Sendable {
    let application: Application.ID
    let user: UserID
    var erasure: Erasure
    /// The key of the last row of the table that is done; `nil` for none.
    var key: [SQLValue]?
    var revision: Int64

    /// The name under which uploads are counted.
    static let uploads = "uploads"
    /// The number of bytes of remaining rows that the digest is computed of.
    static let digestedBytes = 1 << 20

    mutating func begin(_ table: ErasureTable?) {
        erasure.table = table?.rawValue
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
    /// Stores how far an erasure is. The id of the user is deleted when it is completed.
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
                    error = \(erasure.error), ended_at = \(erasure.endedAt)
                WHERE application = \(work.application) AND id = \(erasure.id)
                    AND revision = \(work.revision)
                """)
        guard changed == 1 else { throw LeaseLost() }
    }
}

extension ErasureTable {
    /// Reads a row of a page.
    fileprivate func entry(_ row: borrowing Row) throws -> Entry {
        let keys = layout.start.count
        let columns = layout.columns.description.split(separator: ",").count
        return Entry(
            key: try (0..<keys).map { index in try row.value(.index(index)) },
            values: try (keys..<keys + columns).map { index in try row.value(.index(index)) })
    }
}
