import Messaging
import SQL

/// An erasure with its user and its progress.
struct ErasureWork: Sendable {
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
    /// A running erasure; `nil` if it has ended.
    func erasureWork(
        _ id: Erasure.ID, in application: Application.ID
    ) throws -> ErasureWork? {
        try first(
            """
            SELECT \(raw: Erasure.columns), user_id, last_key, revision, next_at FROM erasures
            WHERE application = \(application) AND id = \(id) AND state = 'running'
            """
        ) { row in
            var erasure = try Erasure(row)
            // The fault of the last attempt, which the next progress deletes.
            erasure.error = nil
            let count = Erasure.columnCount
            return ErasureWork(
                application: application, user: try row.user(.index(count)), erasure: erasure,
                key: try row.optionalBlob(.index(count + 1)).map { bytes in
                    try ErasureWork.key(bytes)
                }, revision: try row.int64(.index(count + 2)),
                nextAt: try row.timestamp(.index(count + 3)))
        }
    }

    /// Stores the progress of an erasure. The id of the user is deleted when it is completed.
    ///
    /// - Throws: `LeaseLost` when the erasure has another revision.
    func save(_ work: ErasureWork) throws {
        let erasure = work.erasure
        let changed = try rowsChanged(
            by: """
                UPDATE erasures SET
                    user_id = \(erasure.state == .completed ? nil : work.user),
                    state = \(erasure.state.rawValue), round = \(erasure.round),
                    current_table = \(erasure.table),
                    last_key = \(work.key.map(ErasureWork.encoded)),
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
