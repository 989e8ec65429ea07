import CCurl
import HTTP

// A file of the C boundary: an easy handle is owned here.

/// A request on its way and what has come of its answer; confined to its loop's queue.
@safe final class CurlTransfer {
    typealias HeadWaiter = CheckedContinuation<Result<AnswerHead, HTTPClientError>, Never>
    typealias Reader = CheckedContinuation<Result<[UInt8]?, HTTPClientError>, Never>

    /// How many octets of an answer are held for its reader before the sender has to wait.
    static let mostHeld = 256 << 10

    let number: Int
    /// `nil` once the request has ended.
    private(set) var easy: OpaquePointer?
    let request: ClientRequest
    let admits: (@Sendable (PeerAddress) -> Bool)?
    /// How much of the request's body was handed over.
    var sent: Int64 = 0
    /// Called when the last octet of the body was handed over.
    var whenSent: (() -> Void)?
    /// Something that went wrong on this side while libcurl called back, and made it stop.
    var fault: HTTPClientError?
    /// Why an address of the server was not dialled; it counts only where no other one was.
    var refusal: HTTPClientError?
    /// Whether an address of the server was dialled for this request.
    var hasDialled = false
    var head = HeadReader()

    private let curl: CurlLibrary
    private let lines: OpaquePointer?
    /// Where libcurl writes what went wrong, at most 256 octets with the 0 at the end.
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
        admits = settings.admits
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
        set(CURL_CONNECTTIMEOUT_MS, request.connectsWithin.milliseconds)
        set(CURL_TIMEOUT_MS, request.endsWithin?.milliseconds ?? 0)
        set(CURL_LOW_SPEED_LIMIT, 1)
        set(CURL_LOW_SPEED_TIME, max(1, Int(request.stallsFor.components.seconds)))
        if let authorities = settings.authorities { set(CURL_CAINFO, authorities) }
        if settings.admits != nil { set(CURL_PROXY, "") }
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
    func headEnded(_ head: AnswerHead) {
        headWaiter?.resume(returning: .success(head))
        headWaiter = nil
    }

    /// Takes octets of the body, or refuses them until there is room.
    func receive(_ octets: UnsafeRawBufferPointer) -> Int {
        guard held.count < Self.mostHeld else {
            isPaused = true
            return CURL_PAUSE
        }
        unsafe held.append(contentsOf: octets)
        if let reader {
            self.reader = nil
            reader.resume(returning: .success(takeHeld()))
        }
        return octets.count
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
