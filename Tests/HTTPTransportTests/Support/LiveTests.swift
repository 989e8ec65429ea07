import Testing

/// The tests over live sockets: one after another, because some of them count and measure.
@Suite(.serialized, .timeLimit(.minutes(2))) enum Live {}
