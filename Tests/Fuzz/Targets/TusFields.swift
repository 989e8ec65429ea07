import Bytes

@testable import Uploads

/// The headers of tus: metadata, checksum, concatenation.
enum TusFields {
    static func check(_ input: [UInt8]) {
        if let metadata = try? UploadMetadata(input) {
            invariant(
                "metadata is returned unchanged",
                metadata.raw.map { raw in Array(raw.utf8) == input } ?? input.allSatisfy(isBlank))
        }
        guard let text = String(validating: input, as: UTF8.self) else { return }
        if let digest = try? BodyDigest(tus: text) {
            invariant(
                "a digest has its algorithm's length",
                digest.value.count == digest.algorithm.kind.size)
        }
        guard case .final(let references)? = try? UploadConcat(text) else { return }
        invariant(
            "a list written again is the same",
            "final;" + references.joined(separator: " ") == text)
        for reference in references {
            let token = try? UploadReference.token(
                reference, from: "/uploads", authorities: ["chat.example"])
            invariant(
                "a referenced upload has a valid token", token.map { $0.recordName != nil } ?? true)
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
