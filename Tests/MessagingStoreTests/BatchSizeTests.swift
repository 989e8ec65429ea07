import MessagingStore
import Testing

@Suite struct `The size of a batch` {
    private func time(_ milliseconds: Int, delayingOthers: Bool = false) -> TransactionTime {
        TransactionTime(duration: .milliseconds(milliseconds), hasDelayedOthers: delayingOthers)
    }

    private func size(_ first: Int) -> BatchSize {
        BatchSize(first, in: 64...1024, taking: .milliseconds(20))
    }

    @Test func `doubles after fast transactions, up to its bound`() {
        var size = size(256)
        for expected in [512, 1024, 1024] {
            size.adjust(to: time(14), for: size.count)
            #expect(size.count == expected)
        }
    }

    @Test func `halves after slow transactions, down to its bound`() {
        var size = size(256)
        for expected in [128, 64, 64] {
            size.adjust(to: time(31), for: size.count)
            #expect(size.count == expected)
        }
    }

    @Test(arguments: [16, 20, 29])
    func `stays after a transaction that took about the time`(milliseconds: Int) {
        var size = size(256)
        size.adjust(to: time(milliseconds), for: size.count)
        #expect(size.count == 256)
    }

    @Test func `stays after a fast transaction that was not full`() {
        var size = size(256)
        size.adjust(to: time(1), for: 255)
        #expect(size.count == 256)
    }

    @Test
    func
        `becomes that of a third of the time when others waited, and grows when none has for a while`()
    {
        var size = size(256)
        size.adjust(to: time(11, delayingOthers: true), for: 256)
        #expect(size.count == 128)
        size.adjust(to: time(6, delayingOthers: true), for: 128)
        #expect(size.count == 128)
        for _ in 0..<15 { size.adjust(to: time(6), for: 128) }
        #expect(size.count == 128)
        size.adjust(to: time(6), for: 128)
        #expect(size.count == 256)
    }
}
