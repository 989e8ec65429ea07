internal import Base64
internal import HTTP
internal import HTTPClient
internal import Messaging

extension WebhookSender {
    /// Asks a target whether it wants what it would be sent (webhooks §2).
    ///
    /// - Parameter challenge: Letters, digits, `-` and `_`, which it has to answer with.
    /// - Returns: Why it does not, for `status_reason`, or that it does; `nil` when the question was given up
    ///   on this side.
    func verify(_ target: String, challenge: String) async -> Verification? {
        let joint = target.contains("?") ? "&" : "?"
        var request = ClientRequest(
            .get, "\(target)\(joint)verification_challenge=\(challenge)",
            fields: [("user-agent", LayerFields.userAgent)])
        request.connectsWithin = .milliseconds(settings.verifiesWithin)
        request.endsWithin = .milliseconds(settings.verifiesWithin)
        do throws(HTTPClientError) {
            let answer = try await client.send(request, atMost: DeliverySettings.answerLimit)
            guard answer.status == 200 else {
                return .failed(
                    because: "unexpected response status: \(StatusText.of(answer.status))")
            }
            let isOurs = Self.trimmed(answer.body).elementsEqual(challenge.utf8)
            return isOurs ? .passed : .failed(because: "unexpected response body")
        } catch {
            switch error.kind {
            case .cancelled: return nil
            case .timedOut: return .failed(because: "a timeout")
            case .tooLarge: return .failed(because: "unexpected response body")
            default: return .failed(because: "a connection error")
            }
        }
    }

    private static func trimmed(_ body: [UInt8]) -> ArraySlice<UInt8> {
        let isSpace = { (octet: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(octet) }
        let tail = body.drop(while: isSpace)
        guard let last = tail.lastIndex(where: { octet in !isSpace(octet) }) else { return [] }
        return tail[...last]
    }
}

/// What came of asking a target.
enum Verification: Equatable {
    case passed
    /// With what stands in `status_reason`.
    case refused(String)

    static func failed(because words: String) -> Verification {
        .refused("Verification failed due to \(words)")
    }
}
