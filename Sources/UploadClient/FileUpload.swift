internal import Bytes
internal import HTTPClient
internal import Transfers

/// Uploads one file to a conversation, resuming an earlier attempt.
///
/// The server alone knows the offset, so a crash of the client costs only the bytes in transit. The client stores
/// nothing but the upload URL.
public struct FileUpload: Sendable {
    private let file: SourceFile
    private let type: String
    private let target: UploadTarget
    private let service: UploadService
    private let folder: String

    /// How many attempts in a row may fail without progress; including the waits, one and a half minutes.
    private static let maximumFailures = 8

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - type: The media type of the file.
    ///   - folder: The folder for resume files, for this user only.
    /// - Throws: ``UploadFailure``.
    public init(
        _ name: String, type: String, to target: UploadTarget, resumeFolder folder: String
    ) throws(UploadFailure) {
        file = try SourceFile(name)
        self.type = type
        self.target = target
        self.folder = folder
        do throws(HTTPClientError) {
            service = UploadService(target: target, client: try HTTPClient())
        } catch {
            throw UploadFailure(error)
        }
    }

    /// The size of the file in bytes.
    public var size: Int64 { file.size }

    /// Uploads the file; when the task is cancelled, the next attempt resumes.
    ///
    /// - Parameter onProgress: Called with the number of bytes sent so far, which decreases when the network loses
    ///   some.
    /// - Returns: The content, once the server has all bytes of the file and, as far as it reports a digest,
    ///   exactly these bytes.
    /// - Throws: ``UploadFailure``.
    public func run(
        onProgress: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> UploadedContent {
        let resumeFile = try ResumeFile(
            of: "\(target.contents) \(type) \(file.identity)", in: folder)
        let started = resumeFile.startedUpload.map { upload in
            Machine.Location(url: upload.url, content: upload.content)
        }
        // Other bytes than those of the file mean here that the file has changed.
        var machine = Machine(size: file.size, location: started, resendsCorrupt: false)
        var hasBegun = started != nil
        var isVerified = false
        var (failures, held) = (0, Int64(-1))
        var action = machine.handle(.start)
        while true {
            let step = try await perform(action, resumeFile, onProgress)
            switch step.event {
            case .created: hasBegun = true
            case .offset(let offset):
                if offset > held { failures = 0 }
                held = offset
                onProgress(offset)
            case .completed(let isSame): isVerified = isSame == true
            default: break
            }
            if let failure = step.failure {
                guard hasBegun, failure.isTransient, failures < Self.maximumFailures else {
                    if machine.location == nil || step.event == .gone { resumeFile.forget() }
                    throw failure
                }
                failures += 1
                try await Self.wait(failures)
            }
            action = machine.handle(step.event)
            switch action {
            case .complete:
                resumeFile.forget()
                return UploadedContent(
                    id: machine.location?.content ?? "", isVerified: isVerified)
            case .fail(let reason):
                resumeFile.forget()
                if case .refused(let failure) = reason { throw failure }
                throw file.changed
            // The delay is over.
            case .wait, .stop: action = machine.handle(.start)
            case .create, .query, .send, .delete: break
            }
        }
    }

    private typealias Machine = UploadMachine<UploadFailure>

    /// What became of an action; with a failure it is tried again, as far as that helps.
    private struct Step {
        let event: Machine.Event
        var failure: UploadFailure?
    }

    /// - Throws: If the file has changed, or the disk fails.
    private func perform(
        _ action: Machine.Action, _ resumeFile: ResumeFile,
        _ onProgress: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> Step {
        switch action {
        case .create:
            let begun: ResumeFile.StartedUpload
            do throws(UploadFailure) {
                begun = try await service.create(file, type: type)
                try resumeFile.keep(begun)
            } catch {
                return Step(event: .broken(retryAfter: nil), failure: error)
            }
            return Step(event: .created(Machine.Location(url: begun.url, content: begun.content)))
        case .query(let location):
            do throws(UploadFailure) {
                return try await service.offset(of: location.url).map { offset in
                    Step(event: .offset(offset))
                } ?? Step(event: .gone, failure: .gone)
            } catch {
                return Step(event: .broken(retryAfter: nil), failure: error)
            }
        case .send(let location, let offset):
            try file.requireUnchanged()
            return try await send(from: offset, to: location.url, onProgress)
        case .delete(let location):
            await service.cancel(location.url)
            return Step(event: .deleted)
        case .complete, .fail, .wait, .stop: return Step(event: .start)
        }
    }

    private func send(
        from offset: Int64, to url: String, _ onProgress: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> Step {
        let receipt: UploadReceipt
        do throws(UploadFailure) {
            receipt = try await service.send(file, from: offset, to: url, onBytesSent: onProgress)
        } catch {
            return Step(event: .broken(retryAfter: nil), failure: error)
        }
        switch receipt {
        case .gone: return Step(event: .gone, failure: .gone)
        case .incomplete:
            return Step(
                event: .incomplete,
                failure: UploadFailure("the server stopped reading the upload", isTransient: true))
        case .whole(let sha256):
            let isSame = try sha256.map { sha256 throws(UploadFailure) in
                try sha256 == String(hexadecimal: file.digest())
            }
            return Step(event: .completed(isSame: isSame))
        }
    }

    /// Waits half a second, doubled each time, at most half a minute.
    private static func wait(_ failures: Int) async throws(UploadFailure) {
        do {
            try await Task.sleep(for: .milliseconds(min(30_000, 500 << (failures - 1))))
        } catch {
            throw UploadFailure("cancelled", isCancelled: true)
        }
    }
}

/// Content that was uploaded.
public struct UploadedContent: Sendable, Equatable {
    /// The content id, `layer:///content/…`.
    public let id: String
    /// Whether the server reported the SHA-256 of the file; false where it reported none, for instance behind a
    /// proxy that changes or drops `ETag`.
    public let isVerified: Bool
}

/// Why a file could not be uploaded, as one line of text.
public struct UploadFailure: Error, Hashable, CustomStringConvertible {
    /// The line, without a full stop.
    public let description: String
    /// Whether a retry may succeed: the network failed, or the server is busy.
    let isTransient: Bool
    /// Whether the caller cancelled it.
    public let isCancelled: Bool

    init(_ description: String, isTransient: Bool = false, isCancelled: Bool = false) {
        self.description = description
        self.isTransient = isTransient
        self.isCancelled = isCancelled
    }

    static let gone = UploadFailure(
        "the server no longer has the upload", isTransient: true)

    init(_ error: HTTPClientError) {
        let isTransient =
            switch error.kind {
            case .unresolved, .unreachable, .timedOut, .broken: true
            case .unavailable, .invalidRequest, .refusedAddress, .insecure, .tooLarge,
                .unreadableBody, .cancelled:
                false
            }
        self.init(
            error.kind == .cancelled ? "cancelled" : "\(error)", isTransient: isTransient,
            isCancelled: error.kind == .cancelled)
    }
}
