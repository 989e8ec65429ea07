import Dispatch
import Glibc
import HTTP
import HTTPTransport
import SystemSupport
import Testing

extension LiveServerTests {
    @Suite struct `Statistics of a server` {
        @Test func `connections are counted by their state`() async throws {
            try await serving { live in
                let idle = try live.connect()
                try idle.send(.head("GET / HTTP/1.1"))
                _ = try idle.answer()
                let slow = try live.connect()
                try slow.send("GET / HT")
                let working = try live.connect()
                try working.send(.head("PUT / HTTP/1.1", "Content-Length: 3") + "a")
                expectSoon(live) { statistics in
                    statistics.accepted == 3
                        && statistics.connections == [.idle: 1, .head: 1, .working: 1]
                        && statistics.waitingHandlers == 1 && statistics.runningHandlers == 0
                }
                try working.send("bc")
                _ = try working.answer()
                expectSoon(live) { statistics in
                    statistics.connections == [.idle: 2, .head: 1]
                        && statistics.waitingHandlers == 0 && statistics.queuedOutput == 0
                }
            }
        }

        @Test func `bytes that a peer does not read are counted as queued`() async throws {
            let size = 8 << 20
            let service = TestService { _ in
                Answer("r", Response(.ok, "text/plain", [UInt8](repeating: 0x61, count: size)))
            }
            try await serving(service) { live in
                let peer = try live.connect()
                peer.setReceiveBuffer(4096)
                try peer.send(.head("GET / HTTP/1.1"))
                expectSoon(live) { statistics in
                    statistics.queuedOutput > 0 && statistics.queuedOutput < Int64(size) + 1000
                }
            }
        }

        @Test func `the observer receives turns of the loop and the loop of a request`()
            async throws
        {
            let observer = RecordingObserver()
            try await serving(observer: observer) { live in
                _ = try live.exchange(.head("GET / HTTP/1.1"))
            }
            let (loops, turns) = observer.state.withLock { state in (state.loops, state.turns) }
            #expect(loops.count == 1)
            #expect(loops.allSatisfy { loop in turns[loop, default: -1] >= 0 })
        }

        private final class RecordingObserver: RequestObserver {
            struct State {
                var loops: [Int] = []
                var turns: [Int: Int64] = [:]
            }
            let state = Locked(State())

            func finished(_ record: RequestRecord) {
                state.withLock { state in state.loops.append(record.loop) }
            }

            func finishedTurn(loop: Int, nanoseconds: Int64) {
                state.withLock { state in state.turns[loop, default: 0] += nanoseconds }
            }
        }

        private func expectSoon(
            _ live: LiveServer, _ holds: (ServerStatistics) -> Bool,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            var tries = 6000
            while tries > 0, live.statistics().map(holds) != true {
                usleep(10_000)
                tries -= 1
            }
            let last = live.statistics()
            #expect(
                last.map(holds) == true, "\(String(describing: last))",
                sourceLocation: sourceLocation)
        }
    }
}

extension LiveServer {
    /// The server's statistics. Blocks, as the body of a test may.
    func statistics() -> ServerStatistics? {
        let received = Locked<ServerStatistics?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task { [server] in
            let statistics = await server.statistics()
            received.withLock { received in received = statistics }
            done.signal()
        }
        done.wait()
        return received.withLock { received in received }
    }
}
