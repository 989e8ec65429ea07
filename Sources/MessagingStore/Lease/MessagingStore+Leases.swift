import SQL

/// Who holds a lease, as far as anybody has said.
struct LeaseRow: Equatable, Sendable {
    /// `nil` for nobody.
    let holder: [UInt8]?
    /// Rises with everything that is said.
    let beat: Int64
}

extension MessagingStore {
    /// How it stands with a lease; nobody has held it where there is no row.
    func lease(_ name: String) async throws -> LeaseRow {
        try await database.read { transaction in
            try transaction.first("SELECT holder, beat FROM leases WHERE name = \(name)") { row in
                LeaseRow(holder: try row.optionalBlob(0), beat: try row.int64(1))
            }
        } ?? LeaseRow(holder: nil, beat: 0)
    }

    /// - Parameter beat: What was last seen: whoever has said more since then keeps it.
    func takeLease(_ name: String, for holder: [UInt8], after beat: Int64) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    INSERT INTO leases (name, holder, beat) VALUES (\(name), \(holder), 1)
                    ON CONFLICT (name) DO UPDATE
                    SET holder = excluded.holder, beat = leases.beat + 1
                    WHERE leases.beat = \(beat)
                    """) > 0
        }
    }

    /// - Returns: False when it is not his any more.
    func renewLease(_ name: String, of holder: [UInt8]) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE leases SET beat = beat + 1 WHERE name = \(name) AND holder = \(holder)
                    """) > 0
        }
    }

    func freeLease(_ name: String, of holder: [UInt8]) async throws {
        try await database.write { transaction in
            try transaction.execute(
                """
                UPDATE leases SET holder = NULL, beat = beat + 1
                WHERE name = \(name) AND holder = \(holder)
                """)
        }
    }
}
