internal import Digests
internal import Messaging

/// The header field that tells in which trace a webhook is sent something (X5).
enum TraceFields {
    /// The field of one try; none without a trace.
    ///
    /// - Parameter step: 8 octets that name the try: the caller of whatever the receiver does about it.
    static func of(_ trace: Trace?, step: [UInt8]) -> [(name: String, value: String)] {
        guard let trace else { return [] }
        return [
            ("traceparent", "00-\(trace.id)-\(String(hexadecimal: step))-0\(trace.flags)")
        ]
    }
}
