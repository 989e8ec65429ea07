public import JSON
public import Messaging

/// A wish to be sent a stretch of the log again (X6).
public enum WebhookReplayJSON {
    /// Reads `after` and `before`: the positions around the stretch; without `before` it goes to the end.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (after: LogPosition, before: LogPosition?) {
        guard let value = body.present("after") else { throw .missing("after") }
        guard let after = value.integer, after >= 0 else { throw .invalid("after", .replayAfter) }
        guard let value = body.present("before") else { return (LogPosition(after), nil) }
        guard let before = value.integer, before > after else {
            throw .invalid("before", .replayBefore)
        }
        return (LogPosition(after), LogPosition(before))
    }

    /// The answer: what will be sent, the first position left out and the last one not.
    public static func answer(after: LogPosition, through: LogPosition) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("after", after.number)
            writer.member("through", through.number)
        }
        return writer.finish()
    }
}
