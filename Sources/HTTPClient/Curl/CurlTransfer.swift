import CCurl
import Glibc
import HTTP
import HTTPTransport
import SystemSupport

// C boundary: this object owns the easy handle.

/// A running request and the received part of its response. Used only on the queue of its loop.
@safe final class CurlTransfer {
    typealias HeadWaiter = CheckedContinuation<Result<ClientResponseHead, HTTPClientError>, Never>
    typealias Reader = CheckedContinuation<Result<[UInt8]?, HTTPClientError>, Never>

    /// The size of the response buffer in bytes; when it is full, the transfer is paused.
    private static let bufferLimit = 256 << 10

    let number: Int
    /// The handle of libcurl; `nil` when the request has ended.
    private(set) var easy: OpaquePointer?
    private let request: ClientRequest
    private let allowsAddress: (@Sendable (PeerAddress) -> Bool)?
    /// The number of bytes of the request's body that libcurl has taken.
    fileprivate var sent: Int64 = 0
    /// Called when libcurl has taken the last byte of the body.
    var onBodySent: (() -> Void)?
    /// An error in a callback, which has made libcurl stop.
    private var callbackError: HTTPClientError?
    /// The reason why an address was not connected to. It is the result only if no other address was tried.
    var refusal: HTTPClientError?
    /// Whether the request has tried to connect to an address.
    var hasTriedToConnect = false
    private var head = ResponseHeadReader()

    private let curl: CurlLibrary
    private let headers: OpaquePointer?
    /// The error text of libcurl, at most 256 bytes including the terminating 0.
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var headWaiter: HeadWaiter?
    private var reader: Reader?
    private var buffer: [UInt8] = []
    private var isPaused = false
    private var end: Result<Void, HTTPClientError>?

    init(
        _ request: ClientRequest, _ number: Int, _ headWaiter: HeadWaiter, _ curl: CurlLibrary,
        _ settings: HTTPClientSettings
    ) throws(HTTPClientError) {
        try request.validate()
        guard let easy = unsafe curl.functions.pointee.easy_init() else {
            throw HTTPClientError(.unavailable, "libcurl has no memory")
        }
        unsafe self.easy = easy
        unsafe errorBuffer = .allocate(capacity: 256)
        unsafe errorBuffer.initialize(repeating: 0, count: 256)
        var headers: OpaquePointer?
        for field in request.fields {
            // libcurl sends a header without a value only if it is written with a semicolon.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            unsafe headers = unsafe curl.functions.pointee.slist_append(headers, line)
        }
        // For a large body libcurl would send `Expect` itself. If the server responds with 417, libcurl repeats
        // the request, and the caller gets the head of the first response with the body of the second.
        if !request.fields.contains(where: { field in field.name.lowercased() == "expect" }) {
            unsafe headers = unsafe curl.functions.pointee.slist_append(headers, "Expect:")
        }
        unsafe self.headers = headers
        self.number = number
        self.request = request
        self.headWaiter = headWaiter
        self.curl = curl
        allowsAddress = settings.allowsAddress
        unsafe prepare(easy, settings)
    }

    deinit {
        free()
        unsafe curl.functions.pointee.slist_free_all(headers)
        unsafe errorBuffer.deallocate()
    }

    /// Frees the handle; it must have been removed from the multi handle.
    func free() {
        unsafe curl.functions.pointee.easy_cleanup(easy)
        unsafe easy = nil
    }

    private func prepare(_ easy: OpaquePointer, _ settings: HTTPClientSettings) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe set(CURL_PRIVATE, context)
        unsafe set(CURL_WRITEDATA, context)
        unsafe set(CURL_HEADERDATA, context)
        unsafe set(CURL_READDATA, context)
        unsafe set(CURL_SEEKDATA, context)
        unsafe set(CURL_OPENSOCKETDATA, context)
        unsafe set(CURL_ERRORBUFFER, errorBuffer)
        unsafe setCallbacks(curl.functions, easy)
        unsafe curl_set_list(curl.functions, easy, Int32(CURL_HTTPHEADER), headers)
        set(CURL_URL, request.url)
        // Over HTTP/2 libcurl buffers up to 32 MiB of each stream that is not read.
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

    // MARK: The response

    /// Passes the buffered bytes to the reader, or makes it wait for more.
    func read(_ reader: Reader) {
        if !buffer.isEmpty {
            reader.resume(returning: .success(takeBuffer()))
            guard isPaused, let easy = unsafe easy else { return }
            isPaused = false
            _ = unsafe curl.functions.pointee.easy_pause(easy, Int32(CURL_CONTINUE))
        } else if let end {
            reader.resume(returning: end.map { nil })
        } else {
            self.reader = reader
        }
    }

    /// Ends the request, and resumes the caller that waits for the head or for bytes.
    ///
    /// - Returns: False when no head was received.
    func finish(_ outcome: Result<Void, HTTPClientError>) -> Bool {
        guard end == nil else { return true }
        end = outcome
        if let headWaiter {
            self.headWaiter = nil
            let error = HTTPClientError(.broken, "the server sent no response")
            headWaiter.resume(
                returning: outcome.flatMap { .failure(error) })
            return false
        }
        reader?.resume(returning: outcome.map { nil })
        reader = nil
        return true
    }

    private func takeBuffer() -> [UInt8] {
        let taken = buffer
        buffer = []
        return taken
    }

    /// Converts a result code of libcurl.
    func outcome(of result: Int32) -> Result<Void, HTTPClientError> {
        if result == Int32(CURL_OK) { return .success(()) }
        if let callbackError { return .failure(callbackError) }
        if result == Int32(CURL_COULD_NOT_CONNECT), !hasTriedToConnect, let refusal {
            return .failure(refusal)
        }
        let text = unsafe String(cString: errorBuffer)
        return .failure(
            HTTPClientError(
                HTTPClientError.Kind(result: result),
                text.isEmpty ? curl.description(of: result) : text))
    }

    // MARK: Called by libcurl

    /// Buffers bytes of the response body; pauses the transfer when the buffer is full.
    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard buffer.count < Self.bufferLimit else {
            isPaused = true
            return CURL_PAUSE
        }
        unsafe buffer.append(contentsOf: bytes)
        if let reader {
            self.reader = nil
            reader.resume(returning: .success(takeBuffer()))
        }
        return bytes.count
    }

    /// Reads a line of a response head.
    ///
    /// - Returns: False to end the request.
    fileprivate func receiveLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(HTTPClientError) {
            let line = unsafe String(decoding: bytes, as: UTF8.self)
            if let head = try head.read(line) {
                headWaiter?.resume(returning: .success(head))
                headWaiter = nil
            }
            return true
        } catch {
            callbackError = error
            return false
        }
    }

    /// Fills libcurl's send buffer with the next bytes of the request's body.
    fileprivate func send(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count: Int
        switch request.body {
        case .none: count = 0
        case .bytes(let bytes):
            let rest = bytes[Int(sent)...].prefix(target.count)
            unsafe target.copyBytes(from: rest)
            count = rest.count
        case .stored(let size, let read):
            do {
                let wanted = Int(min(Int64(target.count), size - sent))
                let bytes = wanted == 0 ? [] : try read(wanted, sent)
                guard bytes.count <= target.count, wanted == 0 || !bytes.isEmpty else {
                    throw HTTPClientError(
                        .unreadableBody, "the body is shorter than its stated size")
                }
                unsafe target.copyBytes(from: bytes)
                count = bytes.count
            } catch {
                callbackError = HTTPClientError(.unreadableBody, "\(error)")
                return CURL_ABORT
            }
        }
        sent += Int64(count)
        request.onBytesSent?(sent)
        if sent == request.body.count { onBodySent?() }
        return count
    }

    /// Opens a socket for an address, if it is allowed.
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
            refusal = HTTPClientError(.refusedAddress, "\(peer) is not allowed")
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
        hasTriedToConnect = true
        return descriptor
    }
}

// Installs the callbacks. Each pointer is valid only during its call; the loop keeps the transfer alive as long as
// its handle is in use.

private func setCallbacks(_ functions: UnsafePointer<curl_library>, _ easy: OpaquePointer) {
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
