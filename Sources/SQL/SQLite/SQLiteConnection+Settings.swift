extension SQLiteConnection {
    /// Sets what makes a commit durable, and asks whether it was.
    func prepareForWriting(_ settings: DatabaseSettings) throws(SQLError) {
        try require("journal_mode = WAL", "journal_mode", is: .text("wal"))
        // In WAL mode NORMAL would lose acknowledged commits on a power cut
        // (https://sqlite.org/pragma.html#pragma_synchronous); 2 is FULL. A checkpoint syncs as its
        // own connection says, so that one is prepared likewise.
        try require("synchronous = FULL", "synchronous", is: .integer(2))
        try require("foreign_keys = OFF", "foreign_keys", is: .integer(0))
        // The checkpointer does it, off the writer's path.
        try run("PRAGMA wal_autocheckpoint = 0")
        try run("PRAGMA cache_size = -16384")
        try mapFile()
        if let limit = settings.pageLimit { try run("PRAGMA max_page_count = \(limit)") }
    }

    /// What a connection that only reads is told.
    func prepareForReading() throws(SQLError) {
        try require("query_only = ON", "query_only", is: .integer(1))
        try run("PRAGMA cache_size = -8192")
        try mapFile()
    }

    /// Reads pages that are not in the cache out of the kernel's memory, without a system call and a
    /// copy each: a look-up anywhere in a large database takes half a dozen. Of a larger file this is
    /// the beginning; the most the library allows by itself.
    private func mapFile() throws(SQLError) { try run("PRAGMA mmap_size = 2147418112") }

    private func require(
        _ setting: String, _ name: String, is wanted: SQLValue
    ) throws(SQLError) {
        try run("PRAGMA \(setting)")
        let found = try run("PRAGMA \(name)")
        guard found == wanted else {
            throw SQLError(.other, "\(name) is \(found) and not \(wanted)")
        }
    }
}
