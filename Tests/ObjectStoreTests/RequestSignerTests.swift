import HTTP
import Testing

@testable import ObjectStore

/// The examples of Amazon's own documents ("Signature Calculations for the Authorization Header" and
/// "Authenticating Requests: Using Query Parameters"). That whole requests are signed as botocore signs
/// them, `ObjectStoreTests` show: the server there computes every signature with it again.
@Suite struct `Signing a request` {
    private let signer = RequestSigner(
        credentials: Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE",
            secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    private let host = "examplebucket.s3.amazonaws.com"
    /// 24 May 2013.
    private let time = SigningTime(1_369_353_600_000)

    struct Example: Sendable {
        var method = Method.get
        var path = "/"
        var query: [(name: String, value: String)] = []
        var fields: [(name: String, value: String)] = []
        var body = ""
        let names: String
        let signature: String
    }

    private static let examples = [
        Example(
            path: "/test.txt", fields: [("Range", "bytes=0-9")],
            names: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            method: .put, path: URIEncoding.path("/test$file.text"),
            fields: [
                ("Date", "Fri, 24 May 2013 00:00:00 GMT"),
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ], body: "Welcome to Amazon S3.",
            names: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            query: [("lifecycle", "")], names: "host;x-amz-content-sha256;x-amz-date",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            query: [("prefix", "J"), ("max-keys", "2")],
            names: "host;x-amz-content-sha256;x-amz-date",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test(arguments: examples) func `equals Amazon's examples`(example: Example) {
        let fields = signer.fields(
            signing: example.method, host: host, path: example.path,
            query: CanonicalRequest.query(example.query), fields: example.fields,
            payload: PayloadDigest(of: Array(example.body.utf8)), at: time)
        let wanted =
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            + "SignedHeaders=\(example.names), Signature=\(example.signature)"
        #expect(fields.last?.name == "Authorization")
        #expect(fields.last?.value == wanted)
    }

    @Test func `equals Amazon's example of a URL`() {
        let query = signer.query(
            signing: .get, host: host, path: "/test.txt", query: [], seconds: 86_400, at: time)
        let wanted =
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(query == wanted)
    }

    @Test func `trims values and leaves one blank of each run inside`() {
        let request = CanonicalRequest(
            method: .get, path: "/", query: "",
            fields: [("X-Amz-Meta-B", " \t a \t  b  "), ("host", "h")],
            payload: .unsigned)
        #expect(
            request.text
                == "GET\n/\n\nhost:h\nx-amz-meta-b:a b\n\nhost;x-amz-meta-b\nUNSIGNED-PAYLOAD")
    }

    @Test func `adds and signs the session token`() {
        let signer = RequestSigner(
            credentials: Credentials(accessKey: "A", secretKey: "b", sessionToken: "token"),
            region: "r")
        let fields = signer.fields(
            signing: .get, host: "h", path: "/", query: "", fields: [], payload: .empty, at: time)
        #expect(fields.contains { $0 == ("x-amz-security-token", "token") })
        #expect(fields.last?.value.contains("x-amz-date;x-amz-security-token,") == true)
        let query = signer.query(
            signing: .get, host: "h", path: "/", query: [], seconds: 1, at: time)
        #expect(query.contains("&X-Amz-Security-Token=token&X-Amz-SignedHeaders=host&"))
    }

    @Test(
        arguments: [
            (0, "19700101T000000Z"), (951_827_696_999, "20000229T123456Z"),
            (1_893_456_000_000, "20300101T000000Z"), (4_102_444_799_000, "20991231T235959Z"),
        ] as [(Int64, String)])
    func `writes the time without separators`(milliseconds: Int64, stamp: String) {
        let time = SigningTime(milliseconds)
        #expect(time.stamp == stamp)
        #expect(time.date == stamp.prefix(8))
    }

    @Test func `never prints the secret`() {
        let credentials = Credentials(accessKey: "A", secretKey: "secret", sessionToken: "token")
        let words = "\(credentials) \(String(reflecting: credentials))"
        #expect(!words.contains("secret"))
        #expect(!words.contains("token"))
    }
}
