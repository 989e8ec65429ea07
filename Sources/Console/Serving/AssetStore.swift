import Bytes
import HTTP

/// The scripts, style sheets and images of the pages.
///
/// Their path contains a hash of all of them, so that a browser may store them without expiry: another release has another
/// path.
struct AssetStore: Sendable {
    /// An embedded file in the forms in which it is sent.
    private struct Asset {
        let type: String
        let bytes: [UInt8]
        let gzip: [UInt8]
    }

    /// The first 64 bits of the SHA-256 of all files, in hexadecimal digits.
    let hash: String
    private let assets: [String: Asset]

    /// Compresses the files; HTML files are the frames of pages and no assets.
    ///
    /// - Parameter files: The paths and texts of the files.
    init(_ files: [(path: String, text: String)]) {
        var digest = SHA256()
        var assets: [String: Asset] = [:]
        for (path, text) in files {
            digest.update(Array("\(path)\0\(text)\0".utf8).span)
            guard let name = path.split(separator: ".").last, let type = Self.types[String(name)]
            else { continue }
            let bytes = Array(text.utf8)
            assets[path] = Asset(type: type, bytes: bytes, gzip: ContentCoding.gzip.compress(bytes))
        }
        hash = String(hexadecimal: digest.digest.prefix(8))
        self.assets = assets
    }

    private static let types = [
        "css": "text/css; charset=UTF-8", "js": "text/javascript; charset=UTF-8",
        "svg": "image/svg+xml",
    ]

    /// The path of the folder of the assets.
    var root: String { "/console/assets/\(hash)" }

    /// Returns a file. The path of another release is answered 404 and never stored.
    func response(to request: Request, hash: String?, path: String) -> Response {
        guard hash == self.hash, let asset = assets[path] else {
            return PagePolicy.notFound("There is no such file in this release; reload the page.")
        }
        var fields = ResponseFields()
        fields.add("Content-Type", asset.type)
        fields.add("Cache-Control", "public, max-age=31536000, immutable")
        fields.add("Vary", "Accept-Encoding")
        PagePolicy.addCommonFields(to: &fields)
        let isCompressed = ContentCoding.preferred(by: request.fields) == .gzip
        if isCompressed { fields.add("Content-Encoding", ContentCoding.gzip.name) }
        return Response(
            .ok, fields: fields, content: .bytes(isCompressed ? asset.gzip : asset.bytes))
    }
}
