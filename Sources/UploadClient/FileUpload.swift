internal import Bytes
internal import HTTPClient

/// Brings one file to a conversation, and goes on where an earlier attempt was broken off.
///
/// The server alone says how much is there, so nothing that dies on this side costs more than what was
/// on its way; this side remembers nothing but the upload's URL.
public struct FileUpload: Sendable {
    private let file: SourceFile
    private let type: String
    private let target: UploadTarget
    private let service: UploadService
    private let folder: String

    /// So often in a row nothing may get ahead; with the waits between, a minute and a half.
    private static let patience = 8

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - type: Its media type.
    ///   - folder: Where memos lie, for this user alone.
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

    /// Bytes of the file.
    public var size: Int64 { file.size }

    /// Brings it; cancelling the task leaves what is there for the next time.
    ///
    /// - Parameter onProgress: Called with the bytes sent so far, which may fall back when the
    ///   network loses some.
    /// - Returns: The content, once the server holds all of this file, and exactly this file as far as
    ///   it says what it holds.
    /// - Throws: ``UploadFailure``.
    public func run(
        onProgress: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> UploadedContent {
        let memo = try ResumeFile(of: "\(target.contents) \(type) \(file.identity)", in: folder)
        var place = memo.place
        var hasBegun = place != nil
        var (failures, held) = (0, Int64(-1))
        while true {
            do throws(UploadFailure) {
                let begun: ResumeFile.Place
                if let place {
                    begun = place
                } else {
                    begun = try await service.create(file, type: type)
                    try memo.keep(begun)
                    place = begun
                    hasBegun = true
                }
                guard let offset = try await service.offset(of: begun.url) else {
                    // Its time was up, or somebody cancelled it.
                    place = nil
                    throw UploadFailure("the server has given the upload up", isTransient: true)
                }
                if offset > held { failures = 0 }
                held = offset
                onProgress(offset)
                try file.requireUnchanged()
                let receipt = try await service.send(
                    file, from: offset, to: begun.url, onBytesSent: onProgress)
                guard case .whole(let sha256) = receipt else {
                    throw UploadFailure("the server takes no more", isTransient: true)
                }
                return try await finish(begun, memo, sha256)
            } catch {
                guard hasBegun, error.isTransient, failures < FileUpload.patience else {
                    if place == nil { memo.forget() }
                    throw error
                }
                failures += 1
                try await FileUpload.wait(failures)
            }
        }
    }

    /// Compares what the server holds with the file; only what is known to differ is taken back.
    private func finish(
        _ place: ResumeFile.Place, _ memo: ResumeFile, _ sha256: String?
    ) async throws(UploadFailure) -> UploadedContent {
        let isSame = try sha256.map { sha256 throws(UploadFailure) in
            try sha256 == String(hexadecimal: file.digest())
        }
        memo.forget()
        guard isSame != false else {
            await service.cancel(place.url)
            throw file.changed
        }
        return UploadedContent(id: place.content, isVerified: isSame == true)
    }

    /// Half a second, then twice as long each time, at most half a minute.
    private static func wait(_ failures: Int) async throws(UploadFailure) {
        do {
            try await Task.sleep(for: .milliseconds(min(30_000, 500 << (failures - 1))))
        } catch {
            throw UploadFailure("stopped", isCancelled: true)
        }
    }
}

/// A content that was brought.
public struct UploadedContent: Sendable, Equatable {
    /// `layer:///content/…`.
    public let id: String
    /// Whether the server said that the SHA-256 of what it holds is that of the file; false where it
    /// said none, as behind a proxy that changes or drops `ETag`.
    public let isVerified: Bool
}

/// Why a file could not be brought: one line for a person.
public struct UploadFailure: Error, CustomStringConvertible {
    /// The line, without a full stop.
    public let description: String
    /// Whether it may go on after a while: the network broke, or the server has no time.
    let isTransient: Bool
    /// Whether the caller himself stopped it.
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
            error.kind == .cancelled ? "stopped" : "\(error)", isTransient: isTransient,
            isCancelled: error.kind == .cancelled)
    }
}
