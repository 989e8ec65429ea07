import HTTP

/// What a head says about the answer to it; all that is kept of a head while the answer is made.
struct AnswerTerms {
    let framing: BodyFraming
    let answersHead: Bool
    let isHTTP10: Bool
    let expectsContinue: Bool

    init(_ head: borrowing RequestHead) {
        framing = head.framing
        answersHead = head.method == .head
        isHTTP10 = head.isHTTP10
        expectsContinue = head.expectsContinue
    }
}
