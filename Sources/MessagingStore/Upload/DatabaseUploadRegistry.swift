import Bytes
import SQL
public import Uploads

/// Stores the records of uploads in the database that several processes share.
///
/// An upload is not a part of messaging until its content is complete, so no event writes these rows.
public struct DatabaseUploadRegistry: UploadRegistry {
    private let store: MessagingStore
    /// The lease for work that only one process does at a time.
    private let sweeping: Lease

    /// Creates a registry in the database of a store.
    public init(store: MessagingStore) {
        self.store = store
        sweeping = Lease("uploads", of: store)
    }

    /// The record of that name; `nil` for none.
    public func find(_ name: String) async throws -> RegisteredUpload? {
        try await store.database.read { transaction in
            try transaction.first(
                "SELECT \(raw: RegisteredUpload.columns) FROM uploads WHERE name = \(name)"
            ) { row in try RegisteredUpload(row) }
        }
    }

    /// The record of the upload that results in a content; `nil` for none.
    public func find(content: String) async throws -> RegisteredUpload? {
        try await store.database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: RegisteredUpload.columns) FROM uploads
                WHERE content = \(content) ORDER BY name LIMIT 1
                """
            ) { row in try RegisteredUpload(row) }
        }
    }

    /// Stores a new record if its owner and its application are within their limits. Both are checked in the transaction
    /// that inserts the record.
    public func create(
        _ upload: RegisteredUpload, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadCreationResult {
        try await store.database.write { transaction in
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
                INSERT INTO uploads (\(raw: RegisteredUpload.columns))
                VALUES (\(upload.name), \(upload.version), \(upload.holder), \(upload.content),
                    \(upload.application), \(upload.owner), \(upload.isOpen), \(upload.claimed),
                    \(upload.dueAt), \(upload.record), \(upload.isWritten),
                    \(upload.request?.rawValue ?? 0))
                """)
            return .created
        }
    }

    /// Replaces a record unless its version has changed. A request to the holder stays stored while the same process
    /// continues to receive a body.
    public func replace(_ upload: RegisteredUpload, version: Int64) async throws -> Bool {
        try await store.database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE uploads
                    SET version = \(upload.version), holder = \(upload.holder),
                        is_open = \(upload.isOpen), claimed = \(upload.claimed),
                        due_at = \(upload.dueAt), record = \(upload.record),
                        wanted = CASE WHEN holder = \(upload.holder)
                            THEN wanted * \(upload.isWritten) ELSE 0 END,
                        is_written = \(upload.isWritten)
                    WHERE name = \(upload.name) AND version = \(version)
                    """) > 0
        }
    }

    /// Requests that the process which receives the body of an upload commits what it has received, or commits it and
    /// stops. That process receives the request through ``MessagingStore/listen(onUpload:onSignal:)``.
    ///
    /// - Returns: False when that process does not receive the body; nothing is stored then.
    public func send(
        _ request: UploadWriterRequest, to holder: [UInt8], of name: String
    ) async throws -> Bool {
        try await store.database.write { transaction in
            let number = request.rawValue
            let isStored =
                try transaction.rowsChanged(
                    by: """
                        UPDATE uploads
                        SET wanted = CASE WHEN wanted < \(number) THEN \(number) ELSE wanted END
                        WHERE name = \(name) AND holder = \(holder) AND is_written = 1
                        """) > 0
            if isStored {
                let change = StoreNotification.upload(name, holder: String(hexadecimal: holder))
                transaction.notify(change.subject, number)
            }
            return isStored
        }
    }

    /// Records that a process has carried out the request, or does not answer.
    public func answer(_ name: String, at holder: [UInt8], isWritten: Bool) async throws {
        try await store.database.write { transaction in
            try transaction.execute(
                """
                UPDATE uploads SET wanted = 0, is_written = is_written * \(isWritten)
                WHERE name = \(name) AND holder = \(holder)
                """)
        }
    }

    /// Deletes a record, unless its version has changed.
    public func forget(_ name: String, version: Int64) async throws {
        try await store.database.write { transaction in
            try transaction.execute(
                "DELETE FROM uploads WHERE name = \(name) AND version = \(version)")
        }
    }

    /// The names of records that are due, those longest due first.
    public func due(at moment: Int64, limit: Int) async throws -> [String] {
        try await store.database.read { transaction in
            try transaction.rows(
                """
                SELECT name FROM uploads WHERE due_at <= \(moment)
                ORDER BY due_at, name LIMIT \(limit)
                """
            ) { row in try row.text(0) }
        }
    }

    /// Records after that of a content, by descending content: those that accept bytes, or the others.
    ///
    /// - Parameter application: The application; `nil` for all.
    public func list(
        _ application: String?, isOpen: Bool, after content: String?, limit: Int
    ) async throws -> [RegisteredUpload] {
        try await store.database.read { transaction in
            try transaction.rows(
                .uploads(of: application, isOpen: isOpen, after: content, limit: limit)
            ) { row in try RegisteredUpload(row) }
        }
    }

    /// The bytes that all uploads of an application reserve.
    public func claimed(by application: String) async throws -> Int64 {
        try await store.database.read { transaction in
            try transaction.claimed(by: application)
        }
    }

    /// Runs work that only one process does at a time; does nothing while another process runs it.
    public func runExclusively(_ work: @escaping @Sendable () async -> Void) async throws {
        _ = try await sweeping.hold { await work() }
    }
}

extension RegisteredUpload {
    /// The columns that ``init(_:)`` reads, in this order.
    fileprivate static let columns: StaticString =
        """
        name, version, holder, content, application, owner, is_open, claimed, due_at, record,
        is_written, wanted
        """

    fileprivate init(_ row: borrowing Row) throws {
        self.init(
            name: try row.text(0), version: try row.int64(1), holder: try row.blob(2),
            content: try row.text(3), application: try row.text(4), owner: try row.text(5),
            isOpen: try row.bool(6), claimed: try row.int64(7), dueAt: try row.int64(8),
            record: try row.blob(9), isWritten: try row.bool(10),
            request: UploadWriterRequest(rawValue: try row.int64(11)))
    }
}

extension SQL {
    /// A page of uploads, by descending content.
    static func uploads(
        of application: String?, isOpen: Bool, after content: String?, limit: Int
    ) -> SQL {
        """
        SELECT \(raw: RegisteredUpload.columns) FROM uploads
        WHERE \(application.map { id -> SQL in "application = \(id) AND" } ?? "") is_open = \(isOpen)
            \(content.map { content -> SQL in "AND content < \(content)" } ?? "")
        ORDER BY content DESC LIMIT \(limit)
        """
    }
}

extension Transaction {
    /// The number of bytes that all uploads of an application reserve.
    fileprivate func claimed(by application: String) throws -> Int64 {
        try first(
            """
            SELECT CAST(COALESCE(SUM(claimed), 0) AS BIGINT) FROM uploads
            WHERE application = \(application)
            """
        ) { row in try row.int64(0) } ?? 0
    }
}
