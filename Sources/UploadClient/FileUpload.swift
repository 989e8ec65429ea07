internal import Bytes
internal import HTTPClient

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
        var started = resumeFile.startedUpload
        var hasBegun = started != nil
        var (failures, held) = (0, Int64(-1))
        while true {
            do throws(UploadFailure) {
                let begun: ResumeFile.StartedUpload
                if let started {
                    begun = started
                } else {
                    begun = try await service.create(file, type: type)
                    try resumeFile.keep(begun)
                    started = begun
                    hasBegun = true
                }
                guard let offset = try await service.offset(of: begun.url) else {
                    // The upload has expired or was cancelled.
                    started = nil
                    throw UploadFailure("the server no longer has the upload", isTransient: true)
                }
                if offset > held { failures = 0 }
                held = offset
                onProgress(offset)
                try file.requireUnchanged()
                let receipt = try await service.send(
                    file, from: offset, to: begun.url, onBytesSent: onProgress)
                guard case .whole(let sha256) = receipt else {
                    throw UploadFailure("the server stopped reading the upload", isTransient: true)
                }
                return try await finish(begun, resumeFile, sha256)
            } catch {
                guard hasBegun, error.isTransient, failures < FileUpload.maximumFailures else {
                    if started == nil { resumeFile.forget() }
                    throw error
                }
                failures += 1
                try await FileUpload.wait(failures)
            }
        }
    }

    /// Compares the server's digest with the file; content that differs is deleted.
    private func finish(
        _ upload: ResumeFile.StartedUpload, _ resumeFile: ResumeFile, _ sha256: String?
    ) async throws(UploadFailure) -> UploadedContent {
        let isSame = try sha256.map { sha256 throws(UploadFailure) in
            try sha256 == String(hexadecimal: file.digest())
        }
        resumeFile.forget()
        guard isSame != false else {
            await service.cancel(upload.url)
            throw file.changed
        }
        return UploadedContent(id: upload.content, isVerified: isSame == true)
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
public struct UploadFailure: Error, CustomStringConvertible {
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
