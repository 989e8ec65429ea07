import SQL

// The records of uploads that several processes share. They are no facts of messaging until a content is
// complete, so no event tells of them.
extension MessagingStore {
    /// The record of that name; `nil` for none.
    public func upload(_ name: String) async throws -> UploadRow? {
        try await database.read { transaction in
            try transaction.first(
                "SELECT \(raw: UploadRow.columns) FROM uploads WHERE name = \(name)"
            ) { row in try UploadRow(row) }
        }
    }

    /// The record of the upload that a content comes by; `nil` for none.
    public func upload(ofContent content: String) async throws -> UploadRow? {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: UploadRow.columns) FROM uploads
                WHERE content = \(content) ORDER BY name LIMIT 1
                """
            ) { row in try UploadRow(row) }
        }
    }

    /// Keeps a new record, if its owner and its application may have one more; nobody adds another
    /// between the counting and this.
    ///
    /// - Parameters:
    ///   - mostOpen: How many open uploads its owner may have with this one.
    ///   - mostClaimed: How many bytes its application may claim with this one; `nil` for any number.
    public func keepUpload(
        _ upload: UploadRow, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadEntry {
        try await database.write { transaction in
            let open = try transaction.first(
                """
                SELECT COUNT(*) FROM uploads
                WHERE application = \(upload.application) AND owner = \(upload.owner)
                    AND is_open = 1
                """
            ) { row in try row.int64(0) }
            if let open, open >= mostOpen { return .tooMany }
            if let mostClaimed {
                let claimed = try transaction.claimed(by: upload.application)
                if upload.claimed > mostClaimed - claimed { return .tooLarge }
            }
            try transaction.execute(
                """
                INSERT INTO uploads (\(raw: UploadRow.columns))
                VALUES (\(upload.name), \(upload.version), \(upload.holder), \(upload.content),
                    \(upload.application), \(upload.owner), \(upload.isOpen), \(upload.claimed),
                    \(upload.dueAt), \(upload.record))
                """)
            return .kept
        }
    }

    /// Replaces a record that has still a version.
    ///
    /// - Returns: False when it has another one.
    public func replaceUpload(_ upload: UploadRow, version: Int64) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE uploads
                    SET version = \(upload.version), holder = \(upload.holder),
                        is_open = \(upload.isOpen), claimed = \(upload.claimed),
                        due_at = \(upload.dueAt), record = \(upload.record)
                    WHERE name = \(upload.name) AND version = \(version)
                    """) > 0
        }
    }

    /// Forgets a record that has still a version.
    public func forgetUpload(_ name: String, version: Int64) async throws {
        try await database.write { transaction in
            try transaction.execute(
                "DELETE FROM uploads WHERE name = \(name) AND version = \(version)")
        }
    }

    /// The names of records that are due, those longest due first.
    public func dueUploads(at moment: Int64, limit: Int) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT name FROM uploads WHERE due_at <= \(moment)
                ORDER BY due_at, name LIMIT \(limit)
                """
            ) { row in try row.text(0) }
        }
    }

    /// Bytes that all uploads of an application claim.
    public func bytesClaimed(byUploadsOf application: String) async throws -> Int64 {
        try await database.read { transaction in try transaction.claimed(by: application) }
    }
}

extension Transaction {
    fileprivate func claimed(by application: String) throws -> Int64 {
        try first(
            """
            SELECT CAST(COALESCE(SUM(claimed), 0) AS BIGINT) FROM uploads
            WHERE application = \(application)
            """
        ) { row in try row.int64(0) } ?? 0
    }
}
