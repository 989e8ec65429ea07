import Glibc
import HTTP

/// Whether ``FileSender`` works for a connection, and how much of a file the loop may still read itself.
struct FileTransmission {
    /// The number of cached blocks of a file that are read on the loop in a row, before other connections get
    /// their turn (H184).
    private static let blocksPerTurn = 4

    /// Whether a thread of ``FileSender`` uses the descriptor.
    private(set) var isSending = false
    /// The number of blocks that may still be read on the loop.
    private var blockBudget = FileTransmission.blocksPerTurn
    /// Whether the socket became writable while ``FileSender`` still used it.
    private var canWriteAgain = false

    /// A block from the page cache, for TLS; `nil` when ``FileSender`` must read it.
    mutating func cachedBlock(of file: any FileContent, offset: Int64, length: Int64) -> [UInt8]? {
        guard blockBudget > 0,
            let block = FileSender.readCached(file, offset: offset, length: length)
        else { return nil }
        blockBudget -= 1
        return block
    }

    /// Records that ``FileSender`` begins to use the descriptor.
    mutating func begin() {
        blockBudget = Self.blocksPerTurn
        isSending = true
        canWriteAgain = false
    }

    /// Records that the socket accepts output again. If ``FileSender`` finds it full after this event, it must try
    /// once more.
    ///
    /// - Returns: False when ``FileSender`` does not use it.
    mutating func noteWritable() -> Bool {
        if isSending { canWriteAgain = true }
        return isSending
    }

    /// Records that ``FileSender`` has returned the descriptor.
    ///
    /// - Returns: Whether the socket became writable meanwhile.
    mutating func end() -> Bool {
        isSending = false
        return canWriteAgain
    }
}

// Files in the output.
extension Connection {
    /// Sends the next bytes of a file, which is the next content of the output.
    func sendFile(_ file: any FileContent, _ offset: Int64, _ length: Int64) {
        let isSecure = socket.secure != nil
        if isSecure, let block = files.cachedBlock(of: file, offset: offset, length: length) {
            output.sendFileBlock(block)
            return flush()
        }
        files.begin()
        let done = { @Sendable [self] (outcome: FileSender.Outcome) in
            loop.perform { self.fileSent(outcome) }
        }
        if isSecure {
            FileSender.read(file, offset: offset, length: length, done: done)
        } else {
            FileSender.send(
                file, offset: offset, length: length, to: socket.descriptor, done: done)
        }
    }

    private func fileSent(_ outcome: FileSender.Outcome) {
        let canWriteAgain = files.end()
        if phase.isClosed { return socket.close() }
        switch outcome {
        case .read(let block):
            guard !block.isEmpty else { return abort("file") }
            output.sendFileBlock(block)
            reschedule()
            flush()
        case .sent(let count, let code):
            output.fileAdvanced(by: count)
            // A deadline that passed meanwhile was not handled.
            reschedule()
            switch code {
            case 0:
                if count > 0 { socket.clearSlowPeer() }
                flush()
            case EAGAIN:
                outputBlocked(sent: count)
                // The socket may have become writable since the sender's last try; epoll does not report that
                // again.
                if canWriteAgain { flush() } else { resumeLater() }
            // The content is incomplete, so the peer must see a broken connection (H88).
            default: abort("file")
            }
        }
    }
}
