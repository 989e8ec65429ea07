internal import Digests
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
        _ name: String, type: String, to target: UploadTarget, rememberedIn folder: String
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

    /// Octets of the file.
    public var size: Int64 { file.size }

    /// Brings it; cancelling the task leaves what is there for the next time.
    ///
    /// - Parameter onProgress: Called with the octets sent so far, which may fall back when the
    ///   network loses some.
    /// - Returns: The content, once the server holds all of this file, and exactly this file as far as
    ///   it says what it holds.
    /// - Throws: ``UploadFailure``.
    public func run(
        onProgress: @escaping @Sendable (Int64) -> Void
    ) async throws(UploadFailure) -> BroughtContent {
        let memo = try UploadMemo(of: "\(target.contents) \(type) \(file.identity)", in: folder)
        var place = memo.place
        var hasBegun = place != nil
        var (failures, held) = (0, Int64(-1))
        while true {
            do throws(UploadFailure) {
                let begun: UploadMemo.Place
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
                    throw UploadFailure("the server has given the upload up", isPassing: true)
                }
                if offset > held { failures = 0 }
                held = offset
                onProgress(offset)
                try file.requireUnchanged()
                let receipt = try await service.send(
                    file, from: offset, to: begun.url, onSent: onProgress)
                guard case .whole(let sha256) = receipt else {
                    throw UploadFailure("the server takes no more", isPassing: true)
                }
                return try await finish(begun, memo, sha256)
            } catch {
                guard hasBegun, error.isPassing, failures < FileUpload.patience else {
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
        _ place: UploadMemo.Place, _ memo: UploadMemo, _ sha256: String?
    ) async throws(UploadFailure) -> BroughtContent {
        let isSame = try sha256.map { sha256 throws(UploadFailure) in
            try sha256 == String(hexadecimal: file.digest())
        }
        memo.forget()
        guard isSame != false else {
            await service.cancel(place.url)
            throw file.changed
        }
        return BroughtContent(id: place.content, isVerified: isSame == true)
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
