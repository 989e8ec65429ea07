internal import Blobs

extension ParleyClient {
    // MARK: - Contents

    /// The bytes of a part on this device; `nil` if they are not here. They are not evicted while the object lives.
    public func content(of part: MessagePart.ID) async throws(ParleyError) -> Content? {
        let inline = try await read { reader in
            try reader.parts(of: part.message).first { $0.id == part }?.inline
        }
        if let inline { return Content(inline: inline) }
        let row = try await store.read { sql in try StoreTransaction(sql).transfer(of: part) }
        guard let row, row.isUnsent || row.state.status == .complete, let name = row.state.file
        else { return nil }
        let folder = transferCenter.folder
        folder.pin(name)
        let file: BlobFile?
        do throws(ParleyError) {
            file = try await folder.open(name)
        } catch {
            folder.unpin(name)
            throw error
        }
        guard let file else {
            folder.unpin(name)
            return nil
        }
        let content = Content(file, named: name, in: folder)
        let now = Clock.now
        if (row.state.accessedAt ?? 0) < now.minute {
            try await store.write { transaction in
                try transaction.noteAccess(to: part, now: now)
            }
        }
        return content
    }

    /// Downloads the content of a part.
    ///
    /// - Returns: The transfer: the running one if there is one, and a finished one if the bytes are here.
    /// - Throws: `contentInline` if the bytes are in the message, `messageGone` if there is no such part.
    @discardableResult
    public func download(_ part: MessagePart.ID) async throws(ParleyError) -> Transfer {
        if let running = transfer(of: part), running.direction == .download {
            running.resume()
            return running
        }
        let row = try await store.write { transaction -> TransferRow in
            guard let row = try transaction.transfer(of: part) else {
                throw ParleyError(.messageGone, "There is no part \(part).")
            }
            guard row.state.content != nil || row.state.file != nil else {
                throw ParleyError(.contentInline, "The bytes of the part are in the message.")
            }
            if row.state.status == .readyForDownload || row.state.status == .downloading {
                try transaction.want(row, .asked)
            }
            return row
        }
        guard !row.isUnsent, row.state.status != .complete else {
            let progress = TransferProgress(
                completed: row.size, total: row.size, isFinished: true)
            return Transfer(part, .download, progress, nil)
        }
        let transfer = transferCenter.register(row, completed: row.state.held)
        transfer.resume()
        return transfer
    }

    /// The upload or download of a part that has not ended; `nil` if there is none.
    public func transfer(of part: MessagePart.ID) -> Transfer? {
        transferCenter.transfer(of: part)
    }

    /// Uploads and downloads that begin from now on.
    public var transfers: Updates<Transfer> { Updates(transferCenter.began) }

    /// Deletes the bytes of a part from this device. They come back only by ``download(_:)``. The bytes of a message that
    /// was not sent stay.
    ///
    /// - Throws: `contentInline` if the bytes are in the message, `contentNotHere` if they are not on this device.
    public func purge(_ part: MessagePart.ID) async throws(ParleyError) {
        try await store.write { transaction in
            guard let row = try transaction.transfer(of: part) else {
                throw ParleyError(.messageGone, "There is no part \(part).")
            }
            guard row.state.content != nil || row.state.file != nil else {
                throw ParleyError(.contentInline, "The bytes of the part are in the message.")
            }
            guard !row.isUnsent else { return }
            guard try transaction.purge(row) else { throw ParleyError.contentNotHere }
        }
    }

    // MARK: - Disk

    /// Sets which contents are downloaded without being asked for, also of those that are known and were never on this
    /// device.
    public func setAutoDownload(_ rule: AutoDownload) async throws(ParleyError) {
        try await store.write { transaction in try transaction.setAutoDownload(rule) }
    }

    /// Sets the most bytes of contents on this device, until the client is closed; 0 for no limit. The least recently read
    /// ones are deleted at once, if there are more.
    public func setDiskCapacity(_ bytes: Int64) async throws(ParleyError) {
        try await transferCenter.setCapacity(bytes)
    }

    /// The bytes of contents on this device, complete and partial, without those that were not sent yet.
    public var diskUtilization: Int64 {
        get async throws(ParleyError) { try await transferCenter.utilization() }
    }
}
