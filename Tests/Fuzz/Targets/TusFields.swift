import Bytes

@testable import Uploads

/// The fields of tus: metadata, checksum, concatenation.
enum TusFields {
    static func check(_ input: [UInt8]) {
        if let metadata = try? UploadMetadata(input) {
            law(
                "metadata is said again as it came",
                metadata.raw.map { raw in Array(raw.utf8) == input } ?? input.allSatisfy(isBlank))
        }
        guard let text = String(validating: input, as: UTF8.self) else { return }
        if let digest = try? BodyDigest(tus: text) {
            law(
                "a digest has its algorithm's length",
                digest.value.count == digest.algorithm.kind.size)
        }
        guard case .final(let references)? = try? UploadConcat(text) else { return }
        law(
            "a list written again is the same",
            "final;" + references.joined(separator: " ") == text)
        for reference in references {
            let token = try? UploadReference.token(
                reference, from: "/uploads", authorities: ["chat.example"])
            law("what is named could be a token", token.map { $0.recordName != nil } ?? true)
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
