import Glibc
public import HTTP
import SystemSupport

/// A folder whose files are served, with validators and ranges.
///
/// Paths are strict: each name is used as it is after one percent-decoding. Names that begin with a dot,
/// symbolic links, folders and files that are not regular are not found. Opening a file may block and happens
/// on separate threads; the kernel copies from file to socket.
public final class StaticFiles: Sendable {
    /// The options of a folder.
    public struct Options: Sendable {
        /// The path prefix of the folder, such as `/files`.
        public var prefix: String
        /// The value of `Cache-Control`; by default caches must revalidate.
        public var cacheControl = "no-cache"
        /// Whether `page.html.gz` is sent instead of `page.html` to clients that accept gzip.
        public var hasCompressedSiblings = false
        /// The maximum number of ranges in one request (H108).
        public var rangeLimit = 32

        /// The defaults, for a path prefix.
        public init(prefix: String) { self.prefix = prefix }
    }

    private static let methods = "GET, HEAD, OPTIONS"

    private let options: Options
    private let folder: Int32
    private let queues = (0..<2).map { number in WorkQueue("parley.files.open.\(number)") }
    private let prefix: [String]

    /// Opens the folder; a later rename of the folder has no effect.
    ///
    /// - Throws: ``SystemError`` when the folder cannot be opened.
    public init(folder path: String, _ options: Options) throws(SystemError) {
        self.options = options
        prefix = options.prefix.split(separator: "/").map(String.init)
        // The text lives through the call.
        folder = unsafe path.withCString { path in
            unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard folder >= 0 else { throw SystemError("open") }
    }

    deinit { close(folder) }

    /// The file path, as names below the folder, for a request path; `nil` for a path outside the prefix.
    ///
    /// - Returns: No names for a path that cannot name a file.
    private func names(in target: RequestTarget) -> [String]? {
        // A path that cannot be decoded does not name a file.
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

    /// Opens a file, or its compressed variant when the client accepts it and it is not older.
    private func open(_ names: [String], for request: Request) async throws(SystemError) -> Variant
    {
        let folder = folder
        let mayBeCoded =
            options.hasCompressedSiblings && ContentCoding.preferred(by: request.fields) == .gzip
        let queue = queues[Int.random(in: queues.indices)]
        // Keeps the folder open while its descriptor is used.
        return try await queue.run { [self] () throws(SystemError) -> Variant in
            defer { withExtendedLifetime(self) {} }
            let file = try OpenFile(in: folder, names)
            // If the compressed variant cannot be opened, the file itself is sent.
            guard mayBeCoded, let sibling = try? OpenFile(in: folder, Self.sibling(of: names)),
                sibling.modified >= file.modified
            else { return Variant(file: file, coding: nil) }
            return Variant(file: sibling, coding: .gzip)
        }
    }

    private static func sibling(of names: [String]) -> [String] {
        names.dropLast() + [names[names.count - 1] + ".gz"]
    }

    /// The file that is sent, and its content coding.
    struct Variant: Sendable {
        fileprivate let file: OpenFile
        fileprivate let coding: ContentCoding?
    }
}

extension StaticFiles {
    /// Responds to a request for a file; `nil` when its path is outside the prefix.
    public func answer(to request: Request) -> Answer? {
        guard let names = names(in: request.target) else { return nil }
        switch request.method {
        case .options: return Answer(options.prefix, offer(.noContent))
        case .get, .head:
            guard !names.isEmpty else { return Answer(options.prefix, refusal(.notFound)) }
            return Answer(options.prefix) { [self] _ in await response(to: request, names) }
        default: return Answer(options.prefix, offer(.methodNotAllowed))
        }
    }

    private func response(to request: Request, _ names: [String]) async -> Response {
        do throws(SystemError) {
            return response(to: request, try await open(names, for: request), names)
        } catch {
            return refusal(Self.status(of: error))
        }
    }

    private func response(to request: Request, _ variant: Variant, _ names: [String]) -> Response {
        let file = variant.file
        let name = names[names.count - 1]
        let mediaType = MediaType(fileName: name).text
        let content = Representation(size: file.size, tag: file.tag, modified: file.modified)
        func slice(_ range: Range<Int64>) -> Content {
            range.isEmpty
                ? .none : .file(file, offset: range.lowerBound, length: Int64(range.count))
        }
        switch content.selection(
            for: request, at: Self.now, limit: options.rangeLimit,
            isCoded: variant.coding != nil)
        {
        case .whole:
            return Response(
                .ok, fields: fields(variant, mediaType), content: slice(0..<file.size))
        case .parts(let ranges):
            var generator = SystemRandomNumberGenerator()
            let partial = PartialContent(
                ranges, of: file.size, mediaType, using: &generator)
            var fields = fields(variant, partial.mediaType)
            if let range = partial.contentRange { fields.add("Content-Range", range) }
            return Response(.partialContent, fields: fields, content: partial.content(slice))
        case .notModified: return Response(.notModified, fields: fields(variant, nil))
        case .failed: return refusal(.preconditionFailed)
        case .unsatisfiable:
            var response = refusal(.rangeNotSatisfiable)
            response.fields.add("Content-Range", content.unsatisfiedRange)
            return response
        }
    }

    /// The headers of 200, 206 and, without those that describe the content, 304 (H104, H106, H112).
    private func fields(_ variant: Variant, _ mediaType: String?) -> ResponseFields {
        var fields = ResponseFields()
        fields.add("ETag", variant.file.tag.text)
        fields.add("Last-Modified", HTTPDate.format(variant.file.modified))
        fields.add("Cache-Control", options.cacheControl)
        if options.hasCompressedSiblings { fields.add("Vary", "Accept-Encoding") }
        guard let mediaType else { return fields }
        fields.add("Content-Type", mediaType)
        fields.add("Referrer-Policy", "no-referrer")
        if let coding = variant.coding {
            fields.add("Content-Encoding", coding.name)
        } else {
            fields.add("Accept-Ranges", "bytes")
        }
        return fields
    }

    private func offer(_ status: Status) -> Response {
        var response = status == .noContent ? Response(.noContent) : refusal(status)
        response.fields.add("Allow", Self.methods)
        return response
    }

    private func refusal(_ status: Status) -> Response {
        var response = Response(
            status, "text/plain; charset=utf-8", Array("\(status.reason)\n".utf8))
        response.fields.add("Cache-Control", "no-store")
        if status == .serviceUnavailable { response.fields.add("Retry-After", "1") }
        return response
    }

    /// Whole seconds since 1970 UTC.
    private static var now: Int64 {
        var time = timespec()
        // The structure lives through the call.
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Int64(time.tv_sec)
    }

    /// The status for an error; a forbidden file looks like a missing one.
    private static func status(of error: SystemError) -> Status {
        switch error.code {
        case ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, ENAMETOOLONG, ENXIO, EISDIR: .notFound
        case EMFILE, ENFILE, ENOMEM: .serviceUnavailable
        default: .internalServerError
        }
    }
}

/// A regular file inside a folder, open for reading, with its metadata.
final class OpenFile: FileContent {
    let descriptor: Int32
    fileprivate let size: Int64
    /// Whole seconds since 1970 UTC.
    fileprivate let modified: Int64
    /// Changes when the file is written or replaced, but not when the server restarts (H102).
    fileprivate let tag: EntityTag

    /// Opens a file by the names of its path. Blocks on the disk.
    ///
    /// Each name is opened relative to the folder before it, and no name may be a symbolic link: files
    /// outside the folder cannot be reached, even if names are replaced meanwhile. Pipes and devices are
    /// rejected.
    ///
    /// - Parameter names: The names, without `/`, NUL and dot segments.
    init(in folder: Int32, _ names: [String]) throws(SystemError) {
        var parent = folder
        defer { if parent != folder { close(parent) } }
        for name in names.dropLast() {
            let next = try Self.open(name, in: parent, O_DIRECTORY)
            if parent != folder { close(parent) }
            parent = next
        }
        descriptor = try Self.open(names[names.count - 1], in: parent, O_NONBLOCK)
        var status = stat()
        // The structure lives through the call.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SystemError("open", code: ENOENT)
        }
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
        let version = [
            UInt64(truncatingIfNeeded: status.st_ino), UInt64(truncatingIfNeeded: status.st_size),
            UInt64(truncatingIfNeeded: status.st_mtim.tv_sec),
            UInt64(truncatingIfNeeded: status.st_mtim.tv_nsec),
        ]
        tag = EntityTag(
            opaque: version.map { number in String(number, radix: 16) }.joined(separator: "-"))
    }

    deinit { close(descriptor) }

    private static func open(
        _ name: String, in folder: Int32, _ flags: Int32
    ) throws(SystemError) -> Int32 {
        while true {
            // The text lives through the call.
            let opened = unsafe name.withCString { name in
                unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
            }
            if opened >= 0 {
                if DescriptorLimit.leavesReserve(above: opened, for: .file) { return opened }
                close(opened)
                throw SystemError("open", code: EMFILE)
            }
            if errno != EINTR { throw SystemError("open") }
        }
    }
}
