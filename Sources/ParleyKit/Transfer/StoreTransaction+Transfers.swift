internal import FoundationEssentials
internal import JSON
internal import Messaging
internal import SQL
internal import Transfers

/// What the store knows of the transfer of a part.
struct PartTransfer: Sendable {
    var part: MessagePart.ID?
    var status: TransferStatus
    /// The id of the content at the server.
    var content: [UInt8]?
    /// The name of the file.
    var file: String?
    /// When the file was last read, in milliseconds since 1970; `nil` if it was never here.
    var accessedAt: Int64?
    var held: Int64 = 0
    var etag: String?
    var wanted = Wanted.no
    var isPaused = false

    /// Why a part is downloaded.
    enum Wanted: Int64, Sendable {
        case no, byRule, asked
    }
}

/// A transfer that may run.
struct TransferRow: Sendable {
    let part: MessagePart.ID
    let conversation: Conversation.ID?
    let mimeType: String
    let size: Int64
    let state: PartTransfer
    /// Where an unsent part is uploaded to.
    let uploadURL: String?
    /// Whether it belongs to a message that the server does not have.
    let isUnsent: Bool
}

// What the store knows of uploads and downloads.
extension StoreTransaction {
    // MARK: - Reading

    /// The transfer of a part; `nil` if there is no such part.
    func transfer(of part: MessagePart.ID) throws -> TransferRow? {
        try transfers(
            "p.message = \(part.message.bytes) AND p.name = \(part.name)", limit: 1
        ).first
    }

    /// The uploads that wait or run, those of the first messages first.
    func uploads(limit: Int) throws -> [TransferRow] {
        try transfers(
            """
            \(MessagePart.isIncomplete) AND p.status < \(TransferStatus.readyForDownload.rawValue)
            AND p.is_paused = 0 AND EXISTS (
                SELECT 1 FROM outbox WHERE outbox.message = p.message
                    AND outbox.kind = \(OutboxKind.send.rawValue) AND outbox.failure IS NULL)
            ORDER BY m.place, p.part
            """, limit: limit)
    }

    /// The uploads of a message.
    func uploads(of message: Message.ID) throws -> [TransferRow] {
        try transfers(
            """
            p.message = \(message.bytes) AND p.status < \(TransferStatus.readyForDownload.rawValue)
            ORDER BY p.part
            """, limit: -1)
    }

    /// The downloads that wait or run: first those that were asked for, of each kind those of the newest messages.
    func downloads(limit: Int) throws -> [TransferRow] {
        try transfers(
            """
            p.wanted > 0 AND p.is_paused = 0
            ORDER BY p.wanted DESC, coalesce(m.received_at, m.sent_at) DESC, p.part
            """, limit: limit)
    }

    /// The transfers that the application sees after the store was opened.
    func openTransfers() throws -> [TransferRow] {
        try transfers(
            """
            (\(MessagePart.isIncomplete) AND p.status IN (0, 1)
                OR p.wanted > 0 AND (p.status = 3 OR p.wanted = 2))
            """, limit: -1)
    }

    /// All parts that have a file, or should have one.
    func filedParts() throws -> [TransferRow] { try transfers("p.file IS NOT NULL", limit: -1) }

    private func transfers(_ condition: SQL, limit: Int) throws -> [TransferRow] {
        try sql.rows(
            """
            SELECT p.message, p.name, p.mime_type, p.size, p.content, p.status, p.file, p.accessed_at, p.held,
                p.etag, p.wanted, p.is_paused, p.upload_url, m.conversation, m.is_sent
            FROM parts p JOIN messages m ON m.id = p.message WHERE \(condition) LIMIT \(limit)
            """
        ) { row -> TransferRow? in
            let conversation = try row.optionalBlob("conversation").flatMap { bytes in
                Conversation.ID(stored: bytes)
            }
            guard let message = Message.ID(stored: try row.blob("message"), in: conversation) else {
                return nil
            }
            let part = MessagePart.ID(try row.text("name"), of: message)
            return TransferRow(
                part: part, conversation: conversation, mimeType: try row.text("mime_type"),
                size: try row.int64("size"),
                state: PartTransfer(
                    part: part,
                    status: TransferStatus(rawValue: try row.int("status")) ?? .complete,
                    content: try row.optionalBlob("content"), file: try row.optionalText("file"),
                    accessedAt: try row.optionalInt64("accessed_at"),
                    held: try row.int64("held"), etag: try row.optionalText("etag"),
                    wanted: PartTransfer.Wanted(rawValue: try row.int64("wanted")) ?? .no,
                    isPaused: try row.bool("is_paused")),
                uploadURL: try row.optionalText("upload_url"),
                isUnsent: !(try row.bool("is_sent")))
        }.compactMap(\.self)
    }

    // MARK: - Parts of the feed

    /// Deletes the rows of the parts of a message, and returns what was known of their transfers.
    func removeParts(of message: Message.ID) throws -> [PartTransfer] {
        let rows = try transfers("p.message = \(message.bytes)", limit: -1)
        try sql.execute("DELETE FROM parts WHERE message = \(message.bytes)")
        return rows.map(\.state).filter { state in state.content != nil || state.file != nil }
    }

    /// Ends the transfer of a part that no longer exists, and deletes its file.
    func drop(_ transfer: PartTransfer) {
        if let part = transfer.part { noteRemoved(part) }
        if let file = transfer.file { noteRemoved(file: file) }
    }

    /// What is done with a content that is seen for the first time (K42).
    func newTransfer(size: Int64, _ mimeType: String) throws -> PartTransfer {
        let isWanted = try autoDownload().wants(size: size, mimeType)
        if isWanted { noteTransfer() }
        return PartTransfer(status: .readyForDownload, wanted: isWanted ? .byRule : .no)
    }

    // MARK: - The rule of automatic downloads

    private func autoDownload() throws -> AutoDownload {
        guard let text = try setting("auto_download"),
            let json = (try? JSONDocument(Array(text.utf8)))?.root
        else { return .nothing }
        return AutoDownload(
            maximumSize: json["maximum_size"]?.integer.flatMap(Int64.init(exactly:)) ?? 0,
            types: Set(json["types"]?.elements.compactMap(\.string) ?? []))
    }

    /// Stores the rule, and applies it to contents that were never here.
    func setAutoDownload(_ rule: AutoDownload) throws {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("maximum_size", rule.maximumSize)
            writer.key("types")
            writer.array { writer in for type in rule.types.sorted() { writer.string(type) } }
        }
        let text = String(decoding: writer.finish(), as: UTF8.self)
        guard try setting("auto_download") != text else { return }
        try set("auto_download", text)
        let parts = try transfers(
            """
            \(MessagePart.isIncomplete) AND p.status = \(TransferStatus.readyForDownload.rawValue)
            AND p.accessed_at IS NULL AND p.wanted < 2
            """, limit: -1)
        for row in parts {
            let wanted: PartTransfer.Wanted =
                rule.wants(size: row.size, row.mimeType) ? .byRule : .no
            guard wanted != row.state.wanted else { continue }
            try update(row.part, "wanted = \(wanted.rawValue)")
            noteTransfer()
        }
    }

    // MARK: - Steps

    private func update(_ part: MessagePart.ID, _ columns: SQL) throws {
        try sql.execute(
            """
            UPDATE parts SET \(columns)
            WHERE message = \(part.message.bytes) AND name = \(part.name)
            """)
    }

    /// Stores the status of a transfer, and tells subscribers.
    private func set(_ status: TransferStatus, of row: TransferRow) throws {
        try update(row.part, "status = \(status.rawValue)")
        guard status != row.state.status else { return }
        note(
            .updated(property: "transferStatus"), of: .part(row.part), in: row.conversation,
            from: .transferStatus(row.state.status), to: .transferStatus(status))
        if row.isUnsent {
            note(
                .updated(property: "delivery"), of: .message(row.part.message),
                in: row.conversation)
        }
    }

    /// Stores how far an upload is.
    func store(_ upload: UploadMachine, of part: MessagePart.ID) throws {
        guard let row = try transfer(of: part), row.isUnsent else { return }
        let content = upload.location.flatMap { location in
            location.content.split(separator: "/").last.flatMap { uuid in
                Messaging.Content.ID(uuid: uuid)
            }
        }
        try update(
            part,
            """
            content = \(content?.bytes), upload_url = \(upload.location?.url), held = \(upload.offset)
            """)
        try set(upload.location == nil ? .awaitingUpload : .uploading, of: row)
    }

    /// All bytes of an upload are at the server.
    func completeUpload(of part: MessagePart.ID, now: Timestamp) throws {
        guard let row = try transfer(of: part), row.isUnsent else { return }
        try update(
            part,
            """
            upload_url = NULL, held = size, is_paused = 0, accessed_at = \(now.minute)
            """)
        try set(.complete, of: row)
        noteCommand()
    }

    /// The message of an upload has failed (K37).
    ///
    /// - Returns: What the application is told; `nil` if the message is gone or has failed already.
    func failUpload(of part: MessagePart.ID, _ error: ParleyError) throws -> OperationFailure? {
        try fail(part.message, error) ? OperationFailure(object: .part(part), error: error) : nil
    }

    private func fail(_ message: Message.ID, _ error: ParleyError) throws -> Bool {
        let row = try sql.first(
            """
            SELECT number, conversation FROM outbox WHERE message = \(message.bytes)
                AND kind = \(OutboxKind.send.rawValue) AND failure IS NULL
                AND answered_position IS NULL
            """
        ) { row in (try row.int64("number"), try row.optionalBlob("conversation")) }
        guard let row else { return false }
        try sql.execute("UPDATE outbox SET failure = \(error.stored) WHERE number = \(row.0)")
        let conversation = row.1.flatMap { Conversation.ID(stored: $0) }
        note(.updated(property: "delivery"), of: .message(message), in: conversation)
        if let conversation { touch(conversation) }
        return true
    }

    /// A message that has failed is sent again: parts that the server did not take are uploaded again.
    func restartUploads(of message: Message.ID) throws {
        let failure = try sql.first(
            """
            SELECT failure FROM outbox
            WHERE message = \(message.bytes) AND kind = \(OutboxKind.send.rawValue)
            """
        ) { row in try row.optionalText("failure") }
        // The server no longer knows a content that no message has used for a month.
        let isUnknown =
            (failure ?? nil).map { ParleyError(stored: $0).server?.id == "invalid_property" }
            ?? false
        let status = TransferStatus.awaitingUpload.rawValue
        try sql.execute(
            """
            UPDATE parts SET status = \(status), content = NULL, upload_url = NULL, held = 0,
                is_paused = 0
            WHERE message = \(message.bytes) AND file IS NOT NULL
                AND (\(isUnknown) = 1 OR status < \(TransferStatus.complete.rawValue))
            """)
        noteTransfer()
    }

    /// A download is asked for, or begins.
    func want(_ row: TransferRow, _ wanted: PartTransfer.Wanted) throws {
        try update(row.part, "wanted = \(wanted.rawValue), is_paused = 0")
        noteTransfer()
    }

    /// A download begins.
    func beginDownload(of part: MessagePart.ID, into file: String) throws {
        guard let row = try transfer(of: part), row.state.wanted != .no else { return }
        try update(part, "file = \(file)")
        try set(.downloading, of: row)
    }

    /// Stores how far a download is.
    func storeDownload(of part: MessagePart.ID, held: Int64, etag: String?) throws {
        try update(part, "held = \(held), etag = coalesce(\(etag), etag)")
    }

    /// All bytes of a download are here.
    ///
    /// - Returns: Whether the part still exists.
    func completeDownload(of part: MessagePart.ID, now: Timestamp) throws -> Bool {
        guard let row = try transfer(of: part) else { return false }
        try update(
            part,
            """
            held = size, wanted = 0, is_paused = 0, etag = NULL, accessed_at = \(now.minute)
            """)
        try set(.complete, of: row)
        return true
    }

    /// A download has ended without its bytes. What is here stays for another one, unless it is worthless.
    func endDownload(of part: MessagePart.ID, keepsFile: Bool) throws {
        guard let row = try transfer(of: part), row.state.status != .complete else { return }
        try update(part, "wanted = 0, is_paused = 0")
        try set(.readyForDownload, of: row)
        if !keepsFile { try removeFile(of: row) }
    }

    private func removeFile(of row: TransferRow) throws {
        guard let file = row.state.file else { return }
        try update(row.part, "file = NULL, held = 0, etag = NULL")
        noteRemoved(file: file)
    }

    func setPaused(_ isPaused: Bool, _ part: MessagePart.ID) throws {
        try update(part, "is_paused = \(isPaused)")
        noteTransfer()
    }

    // MARK: - Files

    /// The file of a part is read.
    func noteAccess(to part: MessagePart.ID, now: Timestamp) throws {
        try update(part, "accessed_at = \(now.minute)")
    }

    /// Deletes the file of a part that the server has too.
    ///
    /// - Returns: Whether it was here.
    @discardableResult
    func purge(_ row: TransferRow) throws -> Bool {
        guard row.state.status == .complete, row.state.file != nil, !row.isUnsent else {
            return false
        }
        try removeFile(of: row)
        try set(.readyForDownload, of: row)
        return true
    }

    /// The bytes of all complete contents that the server has too.
    func completeBytes() throws -> Int64 {
        try sql.first(
            """
            SELECT coalesce(sum(p.size), 0) AS bytes FROM parts p JOIN messages m ON m.id = p.message
            WHERE p.file IS NOT NULL AND p.status = \(TransferStatus.complete.rawValue)
                AND m.is_sent = 1
            """
        ) { row in try row.int64("bytes") } ?? 0
    }

    /// The parts whose files may be deleted, the least recently read first.
    func evictableParts() throws -> [TransferRow] {
        try transfers(
            """
            p.file IS NOT NULL AND p.status = \(TransferStatus.complete.rawValue) AND m.is_sent = 1
            ORDER BY p.accessed_at, m.place
            """, limit: -1)
    }

    /// A file is missing or has another size (K49).
    func noteMissingFile(of row: TransferRow) throws {
        if row.isUnsent {
            _ = try fail(
                row.part.message,
                ParleyError(.contentMissing, "The file of the part \(row.part) is missing."))
        } else {
            try removeFile(of: row)
            if row.state.status == .complete { try set(.readyForDownload, of: row) }
        }
    }

    /// A partial file that no download continues is deleted.
    func dropPartialFile(of row: TransferRow) throws { try removeFile(of: row) }
}

extension Timestamp {
    /// The time to the minute, in milliseconds since 1970: often read files cost few writes (K47).
    var minute: Int64 { milliseconds / 60_000 * 60_000 }
}
