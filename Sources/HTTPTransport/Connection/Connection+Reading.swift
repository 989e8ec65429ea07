import CLinux
import Glibc
import HTTP

// From the socket to whoever uses the octets. Edge-triggered: what the kernel has told once is kept
// in `canRead` until an empty or short read proves the socket empty.
extension Connection {
    /// Called by the loop when the kernel tells of a change.
    func ready(_ events: UInt32) {
        if events & EPOLLERR.rawValue != 0 { return abort("reset") }
        if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 {
            endIsNear = true
            canRead = true
            secure?.endIsNear = true
        }
        if events & EPOLLIN.rawValue != 0 { canRead = true }
        if canRead { secure?.mayHold = true }
        if events & EPOLLOUT.rawValue != 0 {
            // The pump may find the socket full only after this: then it must try once more.
            if isPumping { canWriteAgain = true } else if hasOutput { flush() }
        }
        receive()
        // Answers leave together at the end of the turn: to read from one socket after another and
        // then write to one after another costs 2 % less than both by turns.
        if wantsFlush { flushLater() }
    }

    /// Called by the loop for a connection that could not use everything at once.
    func resume() {
        isResumed = false
        if case .line(let line) = phase { goOn(line) }
        receive()
        if wantsFlush { flushLater() }
    }

    /// Reads as much as belongs to one turn; what is left waits for the next one (H184).
    func receive() {
        readLeft = configuration.readPerTurn
        while canRead, wantsInput {
            guard readLeft > 0 else { return resumeLater() }
            if case .working(let exchange) = phase, receiveDirectly(exchange) { continue }
            receiveIntoLoopBuffer()
        }
    }

    /// Reads later what is there already, because it is welcome now.
    func resumeLater() {
        guard canRead, !isResumed, wantsInput else { return }
        isResumed = true
        loop.resumeReading(self)
    }

    /// Whether more octets are welcome (H81, H185).
    private var wantsInput: Bool {
        if inputHasEnded { return false }
        switch phase {
        case .head: return output.count < Int64(configuration.writeHigh)
        case .working(let exchange):
            if exchange.pending != nil { return true }
            // Between two reads the body stays in the socket; behind it a little is read ahead, which
            // is also how a peer that goes away is noticed.
            return exchange.decoder.isComplete && keptCount < configuration.readAhead
        case .line(let line):
            if left > 0 { return true }
            return line.form == .upgraded
                ? line.takesOctets : keptCount < configuration.readAhead
        case .draining, .lingering: return true
        case .closing, .closed: return false
        }
    }

    /// Whether what comes now belongs to a later request.
    private var readsAhead: Bool {
        switch phase {
        case .working(let exchange): exchange.pending == nil
        case .line(let line): left == 0 && line.form != .upgraded
        default: false
        }
    }

    /// How many octets came and are not used yet.
    var keptCount: Int { input.count - inputStart }

    private func receiveIntoLoopBuffer() {
        var room = unsafe min(loop.readBuffer.count, readLeft)
        if readsAhead { room = min(room, configuration.readAhead - keptCount) }
        let count = unsafe receive(loop.readBuffer.baseAddress, room)
        guard count > 0 else { return nothingReceived(count, errno) }
        readLeft -= count
        // The buffer is the loop's and stays as it is until this turn ends.
        let octets = unsafe Span(
            _unsafeElements: UnsafeBufferPointer(rebasing: loop.readBuffer[..<count]))
        if input.isEmpty {
            let used = consume(octets)
            if used < count { keep(octets.extracting(used...)) }
        } else {
            keep(octets)
            consumeInput()
        }
    }

    /// A read that brought nothing: the end, an interruption, an empty socket, or a break.
    func nothingReceived(_ count: Int, _ code: Int32) {
        if count == 0 { return inputEnded() }
        switch code {
        case EINTR: break
        case EAGAIN: canRead = false
        default:
            if let secure, secure.isBroken { return sessionBroke(secure) }
            abort("reset")
        }
    }

    private func keep(_ octets: Span<UInt8>) {
        if isClosed { return }
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        unsafe octets.withUnsafeBufferPointer { octets in unsafe input.append(contentsOf: octets) }
    }

    /// Goes on with the octets that are kept.
    func consumeInput() {
        guard !input.isEmpty else { return }
        // Taken out, so that nobody changes what is being read.
        let taken = input
        let start = inputStart
        input = []
        inputStart = 0
        let used = start + consume(taken.span.extracting(start...))
        if used < taken.count, !isClosed {
            input = taken
            inputStart = used
        }
    }

    /// Uses octets from the front, and says how many; the rest is kept by the caller.
    private func consume(_ octets: Span<UInt8>) -> Int {
        var used = 0
        while used < octets.count {
            switch phase {
            case .head:
                guard output.count < Int64(configuration.writeHigh) else { return used }
                let count = takeHead(used == 0 ? octets : octets.extracting(used...))
                guard count > 0 else { return used }
                used += count
            case .working(let exchange):
                guard exchange.pending != nil else { return used }
                used += feed(exchange, octets.extracting(used...))
                if exchange.pending != nil { return used }
            case .line(let line):
                if left > 0 {
                    let count = Int(min(left, Int64(octets.count - used)))
                    left -= Int64(count)
                    used += count
                } else if line.takesOctets {
                    let rest = octets.extracting(used...)
                    line.record.octetsIn += Int64(rest.count)
                    line.handler.received(rest)
                    return octets.count
                } else {
                    return used
                }
            case .draining:
                let count = Int(min(left, Int64(octets.count - used)))
                left -= Int64(count)
                used += count
                if left == 0 { bodyIsDrained() }
            case .lingering:
                left -= Int64(octets.count - used)
                if left <= 0 { close("lingered") }
                return octets.count
            case .closing, .closed: return octets.count
            }
        }
        return used
    }
}
