import Glibc
public import HTTP
import SystemSupport

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

extension StaticFiles {
    /// Answers a request for a file; `nil` when its path is not under the prefix.
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
            if let place = partial.contentRange { fields.add("Content-Range", place) }
            return Response(.partialContent, fields: fields, content: partial.content(slice))
        case .notModified: return Response(.notModified, fields: fields(variant, nil))
        case .failed: return refusal(.preconditionFailed)
        case .unsatisfiable:
            var response = refusal(.rangeNotSatisfiable)
            response.fields.add("Content-Range", content.unsatisfiedRange)
            return response
        }
    }

    /// What stands on 200, 206 and, without what describes the content, 304 (H104, H106, H112).
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
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Int64(time.tv_sec)
    }

    /// What may not be read is not told apart from what is not there.
    private static func status(of error: SystemError) -> Status {
        switch error.code {
        case ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, ENAMETOOLONG, ENXIO, EISDIR: .notFound
        case EMFILE, ENFILE, ENOMEM: .serviceUnavailable
        default: .internalServerError
        }
    }
}

/// A regular file inside a folder, open for reading, with what the system said of it then.
final class OpenFile: FileContent {
    let descriptor: Int32
    let size: Int64
    /// Whole seconds since 1970 UTC.
    let modified: Int64
    /// Changes whenever the file is written or replaced, and outlives restarts (H102).
    let tag: EntityTag

    /// Opens a file by the names on its way, waiting for the disk.
    ///
    /// Each name is opened in the folder before it and none may be a link: nothing outside the
    /// folder can be reached, whatever is exchanged meanwhile. A pipe or a device is no file.
    ///
    /// - Parameter names: Without `/` and NUL, none of them a dot segment.
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
