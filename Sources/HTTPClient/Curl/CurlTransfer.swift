import CCurl
import Glibc
import HTTP
import HTTPTransport
import SystemSupport

// A file of the C boundary: an easy handle is owned here.

/// A request on its way and what has come of its answer; confined to its loop's queue.
@safe final class CurlTransfer {
    typealias HeadWaiter = CheckedContinuation<Result<ClientResponseHead, HTTPClientError>, Never>
    typealias Reader = CheckedContinuation<Result<[UInt8]?, HTTPClientError>, Never>

    /// How many bytes of an answer are held for its reader before the sender has to wait.
    static let mostHeld = 256 << 10

    let number: Int
    /// `nil` once the request has ended.
    private(set) var easy: OpaquePointer?
    let request: ClientRequest
    let allowsAddress: (@Sendable (PeerAddress) -> Bool)?
    /// How much of the request's body was handed over.
    var sent: Int64 = 0
    /// Called when the last byte of the body was handed over.
    var whenSent: (() -> Void)?
    /// Something that went wrong on this side while libcurl called back, and made it stop.
    var fault: HTTPClientError?
    /// Why an address of the server was not dialled; it counts only where no other one was.
    var refusal: HTTPClientError?
    /// Whether an address of the server was dialled for this request.
    var hasDialled = false
    var head = ResponseHeadReader()

    private let curl: CurlLibrary
    private let lines: OpaquePointer?
    /// Where libcurl writes what went wrong, at most 256 bytes with the 0 at the end.
    private let words: UnsafeMutablePointer<CChar>
    private var headWaiter: HeadWaiter?
    private var reader: Reader?
    private var held: [UInt8] = []
    private var isPaused = false
    private var end: Result<Void, HTTPClientError>?

    init(
        _ request: ClientRequest, _ number: Int, _ headWaiter: HeadWaiter, _ curl: CurlLibrary,
        _ settings: HTTPClientSettings
    ) throws(HTTPClientError) {
        try request.check()
        guard let easy = unsafe curl.functions.pointee.easy_init() else {
            throw HTTPClientError(.unavailable, "libcurl has no memory")
        }
        unsafe self.easy = easy
        unsafe words = .allocate(capacity: 256)
        unsafe words.initialize(repeating: 0, count: 256)
        var lines: OpaquePointer?
        for field in request.fields {
            // Without a value libcurl wants a semicolon in place of the colon.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            unsafe lines = unsafe curl.functions.pointee.slist_append(lines, line)
        }
        // Asked for permission to send a long body, a server may answer 417: libcurl would repeat the
        // request by itself, and its second body would come behind the head of the first answer.
        if !request.fields.contains(where: { field in field.name.lowercased() == "expect" }) {
            unsafe lines = unsafe curl.functions.pointee.slist_append(lines, "Expect:")
        }
        unsafe self.lines = lines
        self.number = number
        self.request = request
        self.headWaiter = headWaiter
        self.curl = curl
        allowsAddress = settings.allowsAddress
        unsafe prepare(easy, settings)
    }

    deinit {
        free()
        unsafe curl.functions.pointee.slist_free_all(lines)
        unsafe words.deallocate()
    }

    /// Gives the handle back to libcurl, which must not be driving it.
    func free() {
        unsafe curl.functions.pointee.easy_cleanup(easy)
        unsafe easy = nil
    }

    private func prepare(_ easy: OpaquePointer, _ settings: HTTPClientSettings) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe set(CURL_PRIVATE, me)
        unsafe set(CURL_WRITEDATA, me)
        unsafe set(CURL_HEADERDATA, me)
        unsafe set(CURL_READDATA, me)
        unsafe set(CURL_SEEKDATA, me)
        unsafe set(CURL_OPENSOCKETDATA, me)
        unsafe set(CURL_ERRORBUFFER, words)
        unsafe setCallbacks(curl.functions, easy)
        unsafe curl_set_list(curl.functions, easy, Int32(CURL_HTTPHEADER), lines)
        set(CURL_URL, request.url)
        // Over HTTP/2 libcurl holds up to 32 MiB of each stream that nobody reads.
        set(CURL_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        set(CURL_NOSIGNAL, 1)
        set(CURL_PROTOCOLS, CURL_PROTOCOLS_HTTP_AND_HTTPS)
        set(CURL_PATH_AS_IS, 1)
        set(CURL_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURL_BUFFERSIZE, 128 << 10)
        set(CURL_UPLOAD_BUFFERSIZE, 256 << 10)
        set(CURL_CONNECTTIMEOUT_MS, request.connectTimeout.milliseconds)
        set(CURL_TIMEOUT_MS, request.totalTimeout?.milliseconds ?? 0)
        set(CURL_LOW_SPEED_LIMIT, 1)
        set(CURL_LOW_SPEED_TIME, max(1, Int(request.stallTimeout.components.seconds)))
        if let caBundle = settings.caBundle { set(CURL_CAINFO, caBundle) }
        if settings.allowsAddress != nil { set(CURL_PROXY, "") }
        if let count = request.body.count ?? (request.method == .post ? 0 : nil) {
            set(CURL_UPLOAD, 1)
            unsafe curl_set_size(
                curl.functions, easy, Int32(CURL_INFILESIZE_LARGE), count)
        } else if request.method == .head {
            set(CURL_NOBODY, 1)
        }
        set(CURL_CUSTOMREQUEST, request.method.rawValue)
    }

    private func set(_ option: Int, _ number: Int) {
        unsafe curl_set_number(curl.functions, easy, Int32(option), number)
    }

    private func set(_ option: Int, _ text: String) {
        unsafe curl_set_text(curl.functions, easy, Int32(option), text)
    }

    private func set(_ option: Int, _ pointer: UnsafeMutableRawPointer) {
        unsafe curl_set_pointer(curl.functions, easy, Int32(option), pointer)
    }
}

// What the loop and the callbacks tell it.
extension CurlTransfer {
    /// The head of the final answer is whole.
    func headEnded(_ head: ClientResponseHead) {
        headWaiter?.resume(returning: .success(head))
        headWaiter = nil
    }

    /// Takes bytes of the body, or refuses them until there is room.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard held.count < Self.mostHeld else {
            isPaused = true
            return CURL_PAUSE
        }
        unsafe held.append(contentsOf: bytes)
        if let reader {
            self.reader = nil
            reader.resume(returning: .success(takeHeld()))
        }
        return bytes.count
    }

    /// Hands over what is held; where nothing is, the reader waits.
    func read(_ reader: Reader) {
        if !held.isEmpty {
            reader.resume(returning: .success(takeHeld()))
            guard isPaused, let easy = unsafe easy else { return }
            isPaused = false
            _ = unsafe curl.functions.pointee.easy_pause(easy, Int32(CURL_CONTINUE))
        } else if let end {
            reader.resume(returning: end.map { nil })
        } else {
            self.reader = reader
        }
    }

    /// Tells whoever waits that nothing more comes; false when the head never came.
    func finish(_ outcome: Result<Void, HTTPClientError>) -> Bool {
        guard end == nil else { return true }
        end = outcome
        if let headWaiter {
            self.headWaiter = nil
            let words = HTTPClientError(.broken, "the server ended without an answer")
            headWaiter.resume(
                returning: outcome.flatMap { .failure(words) })
            return false
        }
        reader?.resume(returning: outcome.map { nil })
        reader = nil
        return true
    }

    private func takeHeld() -> [UInt8] {
        let taken = held
        held = []
        return taken
    }
}

// A result of libcurl in our words.
extension CurlTransfer {
    func outcome(of result: Int32) -> Result<Void, HTTPClientError> {
        if result == Int32(CURL_OK) { return .success(()) }
        if let fault { return .failure(fault) }
        if result == Int32(CURL_COULD_NOT_CONNECT), !hasDialled, let refusal {
            return .failure(refusal)
        }
        let said = unsafe String(cString: words)
        return .failure(
            HTTPClientError(
                HTTPClientError.Kind(result: result), said.isEmpty ? curl.words(result) : said))
    }
}

// A file of the C boundary: what libcurl calls. Each pointer is valid for its call alone; the transfer
// behind it is held by its loop for as long as its handle is driven.

func setCallbacks(_ functions: UnsafePointer<curl_library>, _ easy: OpaquePointer) {
    unsafe curl_set_bytes(functions, easy, Int32(CURL_HEADERFUNCTION)) {
        bytes, _, count, transfer in
        guard let (transfer, bytes) = unsafe unpack(transfer, bytes, count) else { return 0 }
        return unsafe transfer.receiveLine(UnsafeRawBufferPointer(bytes)) ? count : 0
    }
    unsafe curl_set_bytes(functions, easy, Int32(CURL_WRITEFUNCTION)) {
        bytes, _, count, transfer in
        guard let (transfer, bytes) = unsafe unpack(transfer, bytes, count) else { return 0 }
        return unsafe transfer.receive(UnsafeRawBufferPointer(bytes))
    }
    unsafe curl_set_bytes(functions, easy, Int32(CURL_READFUNCTION)) {
        bytes, one, count, transfer in
        guard let (transfer, bytes) = unsafe unpack(transfer, bytes, one * count) else {
            return CURL_ABORT
        }
        return unsafe transfer.send(into: bytes)
    }
    unsafe curl_set_seek(functions, easy) { transfer, offset, origin in
        guard let transfer = unsafe unpack(transfer), origin == SEEK_SET else { return 1 }
        transfer.sent = offset
        return 0
    }
    unsafe curl_set_open(functions, easy) { transfer, _, address in
        guard let transfer = unsafe unpack(transfer), let address = unsafe address else {
            return Int32(CURL_NO_SOCKET)
        }
        return unsafe transfer.openSocket(address)
    }
}

private func unpack(_ transfer: UnsafeMutableRawPointer?) -> CurlTransfer? {
    unsafe transfer.map { pointer in
        unsafe Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private func unpack(
    _ transfer: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int
) -> (CurlTransfer, UnsafeMutableRawBufferPointer)? {
    guard let transfer = unsafe unpack(transfer), let bytes = unsafe bytes else { return nil }
    return unsafe (transfer, UnsafeMutableRawBufferPointer(start: bytes, count: count))
}

extension CurlTransfer {
    /// Takes a line of a head; false ends the request.
    fileprivate func receiveLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(HTTPClientError) {
            let line = unsafe String(decoding: bytes, as: UTF8.self)
            if let head = try head.read(line) { headEnded(head) }
            return true
        } catch {
            fault = error
            return false
        }
    }

    /// Puts the next bytes of the request's body where libcurl sends them from.
    fileprivate func send(into place: UnsafeMutableRawBufferPointer) -> Int {
        let count: Int
        switch request.body {
        case .none: count = 0
        case .bytes(let bytes):
            let rest = bytes[Int(sent)...].prefix(place.count)
            unsafe place.copyBytes(from: rest)
            count = rest.count
        case .stored(let whole, let read):
            do {
                let wanted = Int(min(Int64(place.count), whole - sent))
                let bytes = wanted == 0 ? [] : try read(wanted, sent)
                guard bytes.count <= place.count, wanted == 0 || !bytes.isEmpty else {
                    throw HTTPClientError(.unreadableBody, "it is shorter than was said")
                }
                unsafe place.copyBytes(from: bytes)
                count = bytes.count
            } catch {
                fault = HTTPClientError(.unreadableBody, "\(error)")
                return CURL_ABORT
            }
        }
        sent += Int64(count)
        request.onBytesSent?(sent)
        if sent == request.body.count { whenSent?() }
        return count
    }

    /// Opens a socket for an address that may be called.
    fileprivate func openSocket(_ address: UnsafeMutablePointer<curl_address>) -> Int32 {
        let length = Int(unsafe address.pointee.length)
        var storage = sockaddr_storage()
        guard length <= MemoryLayout<sockaddr_storage>.size else { return Int32(CURL_NO_SOCKET) }
        let offset = MemoryLayout<curl_address>.offset(of: \.address) ?? 0
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.copyMemory(
                from: UnsafeRawBufferPointer(
                    start: UnsafeRawPointer(address) + offset, count: length))
        }
        let peer = SocketAddress.peer(storage)
        if let allowsAddress, !allowsAddress(peer) {
            refusal = HTTPClientError(.refusedAddress, "\(peer) is not to be called")
            return Int32(CURL_NO_SOCKET)
        }
        let descriptor = unsafe socket(
            address.pointee.family, address.pointee.type | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard descriptor >= 0 else { return Int32(CURL_NO_SOCKET) }
        guard DescriptorLimit.leavesReserve(above: descriptor, for: .connection) else {
            close(descriptor)
            refusal = .noDescriptor
            return Int32(CURL_NO_SOCKET)
        }
        hasDialled = true
        return descriptor
    }
}
