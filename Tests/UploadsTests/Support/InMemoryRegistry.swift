import SystemSupport

@testable import Uploads

/// Stores records in memory for several modules, as a database does for processes.
final class InMemoryRegistry: UploadRegistry {
    private let rows = Locked<[String: RegisteredUpload]>([:])
    /// Whether every query fails.
    let isUnavailable = Locked(false)
    private let isAlone = Locked(false)

    /// The processes, which receive the requests sent to them.
    let listeners = Locked<[@Sendable (UploadWriterRequest, String, [UInt8]) -> Void]>([])
    /// How many requests were sent to processes.
    let asked = Locked(0)

    struct Unavailable: Error {}

    private func ask<Value: Sendable>(
        _ query: (inout [String: RegisteredUpload]) -> Value
    ) throws -> Value {
        if isUnavailable.withLock({ $0 }) { throw Unavailable() }
        return rows.withLock { rows in query(&rows) }
    }

    var all: [RegisteredUpload] { rows.withLock { Array($0.values) } }

    func find(_ name: String) async throws -> RegisteredUpload? { try ask { $0[name] } }

    func find(content: String) async throws -> RegisteredUpload? {
        try ask { rows in rows.values.first { row in row.content == content } }
    }

    func create(
        _ upload: RegisteredUpload, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadCreationResult {
        try ask { rows in
            let others = rows.values.filter { row in row.application == upload.application }
            let open = others.filter { row in row.isOpen && row.owner == upload.owner }
            if open.count >= mostOpen { return .tooMany }
            let claimed = others.reduce(upload.claimed) { sum, row in sum + row.claimed }
            if let mostClaimed, claimed > mostClaimed { return .tooLarge }
            rows[upload.name] = upload
            return .created
        }
    }

    func replace(_ upload: RegisteredUpload, version: Int64) async throws -> Bool {
        try ask { rows in
            guard let last = rows[upload.name], last.version == version else { return false }
            var next = upload
            next.request =
                last.holder == upload.holder && upload.isWritten ? last.request : nil
            rows[upload.name] = next
            return true
        }
    }

    func send(_ request: UploadWriterRequest, to holder: [UInt8], of name: String) async throws
        -> Bool
    {
        asked.withLock { $0 += 1 }
        let isAsked = try ask { rows in
            guard let row = rows[name], row.holder == holder, row.isWritten else { return false }
            if row.request != .stop { rows[name]?.request = request }
            return true
        }
        for notify in listeners.withLock({ $0 }) where isAsked { notify(request, name, holder) }
        return isAsked
    }

    func answer(_ name: String, at holder: [UInt8], isWritten: Bool) async throws {
        try ask { rows in
            guard rows[name]?.holder == holder else { return }
            rows[name]?.request = nil
            if !isWritten { rows[name]?.isWritten = false }
        }
    }

    func forget(_ name: String, version: Int64) async throws {
        try ask { rows in if rows[name]?.version == version { rows[name] = nil } }
    }

    func due(at moment: Int64, limit: Int) async throws -> [String] {
        try ask { rows in
            rows.values.filter { row in row.dueAt <= moment }.sorted { $0.dueAt < $1.dueAt }
                .prefix(limit).map(\.name)
        }
    }

    func list(
        _ application: String?, isOpen: Bool, after content: String?, limit: Int
    ) async throws -> [RegisteredUpload] {
        try ask { rows in
            Array(
                rows.values.filter { row in
                    row.isOpen == isOpen && row.application == application ?? row.application
                        && row.content < content ?? "~"
                }.sorted { $0.content > $1.content }.prefix(limit))
        }
    }

    func claimed(by application: String) async throws -> Int64 {
        try ask { rows in
            rows.values.filter { row in row.application == application }
                .reduce(0) { sum, row in sum + row.claimed }
        }
    }

    func runExclusively(_ work: @escaping @Sendable () async -> Void) async throws {
        guard try ask({ _ in isAlone.withLock { $0.exchange(for: true) } }) == false else { return }
        await work()
        isAlone.withLock { $0 = false }
    }
}

extension Bool {
    fileprivate mutating func exchange(for next: Bool) -> Bool {
        defer { self = next }
        return self
    }
}
