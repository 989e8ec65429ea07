import Glibc
import HTTP
import Locking

/// A folder whose files are served as they lie, with validators and ranges.
///
/// Strict about paths: each name is looked up as it is, after one decoding; names that begin with a
/// dot, links, folders and whatever is no regular file are not there. Opening may wait for the disk
/// and happens on threads of its own; sending is the kernel's copy from file to socket.
public final class StaticFiles: Sendable {
    /// How files are served.
    public struct Options: Sendable {
        /// The path under which the folder is seen, such as `/files`.
        public var prefix: String
        /// The value of `Cache-Control`; by default a cache asks each time.
        public var cacheControl = "no-cache"
        /// Whether `page.html.gz` beside `page.html` is sent to those who read gzip.
        public var hasCompressedSiblings = false
        /// How many ranges are honoured in one request (H108).
        public var rangeLimit = 32

        /// Serves under a path, with defaults otherwise.
        public init(prefix: String) { self.prefix = prefix }
    }

    static let methods = "GET, HEAD, OPTIONS"

    let options: Options
    private let folder: Int32
    private let queues = (0..<2).map { number in WorkQueue("parley.files.open.\(number)") }
    private let prefix: [String]

    /// Opens the folder; it stays the same one, should another take its name.
    ///
    /// - Throws: ``SystemError`` when there is no such folder.
    public init(folder path: String, _ options: Options) throws(SystemError) {
        self.options = options
        prefix = options.prefix.split(separator: "/").map(String.init)
        folder = unsafe path.withCString { path in
            unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard folder >= 0 else { throw SystemError("open") }
    }

    deinit { close(folder) }

    /// The names below the folder that a path stands for; `nil` for a path that is not under the
    /// prefix.
    ///
    /// - Returns: No names for a path that cannot name a file.
    func names(in target: RequestTarget) -> [String]? {
        // What cannot be decoded names nothing here.
        guard let segments = try? target.segments(), segments.starts(with: prefix) else {
            return nil
        }
        let names = Array(segments.dropFirst(prefix.count))
        let areFit = names.allSatisfy { name in
            !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
                && !name.utf8.contains(UInt8(ascii: "/"))
        }
        return areFit ? names : []
    }

    /// Opens the file, or its compressed sibling where that is wanted and not older.
    func open(_ names: [String], for request: Request) async throws(SystemError) -> Variant {
        let folder = folder
        let mayBeCoded =
            options.hasCompressedSiblings && ContentCoding.preferred(by: request.fields) == .gzip
        let queue = queues[Int.random(in: queues.indices)]
        // Holds the folder open while its number is used.
        return try await queue.run { [self] () throws(SystemError) -> Variant in
            defer { withExtendedLifetime(self) {} }
            let file = try OpenFile(in: folder, names)
            // Without a sibling that may be read, the file itself does.
            guard mayBeCoded, let sibling = try? OpenFile(in: folder, Self.sibling(of: names)),
                sibling.modified >= file.modified
            else { return Variant(file: file, coding: nil) }
            return Variant(file: sibling, coding: .gzip)
        }
    }

    private static func sibling(of names: [String]) -> [String] {
        names.dropLast() + [names[names.count - 1] + ".gz"]
    }

    /// What is sent: the file, or the file in a coding.
    struct Variant: Sendable {
        let file: OpenFile
        let coding: ContentCoding?
    }
}
