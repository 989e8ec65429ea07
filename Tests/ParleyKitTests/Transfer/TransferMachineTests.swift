import HTTP
import TestSupport
import Testing
import Transfers

@testable import ParleyKit

typealias UploadMachine = ParleyKit.UploadMachine

@Suite struct UploadMachineTests {
    private static let place = UploadMachine.Location(url: "https://s/uploads/t", content: "c")
    private static let other = UploadMachine.Location(url: "https://s/uploads/u", content: "d")
    private static let refusal = ParleyError(.tooLarge, "too large")

    private func machine(_ location: UploadMachine.Location? = place) -> UploadMachine {
        UploadMachine(size: 100, location: location, offset: 10)
    }

    @Test func `an upload announces, queries, sends and completes (K37)`() {
        var machine = machine(nil)
        #expect(machine.handle(.start) == .create)
        #expect(machine.handle(.created(Self.place)) == .query(Self.place))
        #expect(machine.handle(.offset(0)) == .send(Self.place, from: 0))
        #expect(machine.handle(.broken(retryAfter: 3)) == .wait(seconds: 3))
        #expect(machine.handle(.start) == .query(Self.place))
        #expect(machine.handle(.offset(60)) == .send(Self.place, from: 60))
        #expect(machine.handle(.incomplete) == .wait(seconds: nil))
        #expect(machine.handle(.start) == .query(Self.place))
        #expect(machine.handle(.offset(100)) == .send(Self.place, from: 100))
        #expect(machine.handle(.completed(isSame: nil)) == .complete)
        #expect(machine.offset == 100)
    }

    @Test(
        arguments: [
            (.start, .query(place), true), (.offset(40), .send(place, from: 40), true),
            (.offset(101), .wait(seconds: nil), true), (.offset(.max), .wait(seconds: nil), true),
            (.gone, .create, false), (.incomplete, .wait(seconds: nil), true),
            (.broken(retryAfter: nil), .wait(seconds: nil), true),
            (.completed(isSame: true), .complete, true),
            (.completed(isSame: nil), .complete, true),
            (.completed(isSame: false), .delete(place), true),
            (.refused(refusal), .fail(.refused(refusal)), true),
            (.pause, .stop, true), (.cancel, .delete(place), true),
        ] as [(UploadMachine.Event, UploadMachine.Action, Bool)])
    func `what follows an event of an announced upload (K37)`(
        event: UploadMachine.Event, action: UploadMachine.Action, isKnown: Bool
    ) {
        var machine = machine()
        #expect(machine.handle(event) == action)
        #expect((machine.location != nil) == isKnown)
        if !isKnown { #expect(machine.offset == 0) }
    }

    @Test func `bytes that differ are sent once more, from the start (K37)`() {
        var machine = machine()
        #expect(machine.handle(.completed(isSame: false)) == .delete(Self.place))
        #expect(machine.handle(.deleted) == .create)
        #expect(machine.offset == 0)
        #expect(machine.handle(.created(Self.other)) == .query(Self.other))
        #expect(machine.handle(.completed(isSame: false)) == .delete(Self.other))
        #expect(machine.handle(.deleted) == .fail(.corrupt))
    }

    @Test func `cancelling deletes what the server has (K37)`() {
        var machine = machine()
        #expect(machine.handle(.cancel) == .delete(Self.place))
        #expect(machine.handle(.deleted) == .fail(.cancelled))
        var fresh = self.machine(nil)
        #expect(fresh.handle(.cancel) == .fail(.cancelled))
        #expect(fresh.handle(.start) == .fail(.cancelled))
    }

    @Test func `a paused upload goes on at the server's offset (K37, K38)`() {
        var machine = machine()
        #expect(machine.handle(.pause) == .stop)
        #expect(machine.handle(.start) == .stop)
        #expect(machine.handle(.offset(30)) == .stop)
        #expect(machine.handle(.resume) == .query(Self.place))
    }

    @Test(arguments: TestRounds.seeds(5, of: 500))
    func `any order of events ends, and never sends beyond the size`(hundred: UInt64) {
        for seed in hundred * 100..<hundred * 100 + 100 {
            var random = SeededGenerator(seed)
            var machine = UploadMachine(size: 100)
            var (action, corrupt) = (machine.handle(.start), 0)
            for _ in 0..<100 where machine.end == nil {
                if case .send(let location, let offset) = action {
                    #expect(offset >= 0 && offset <= 100 && location == machine.location)
                }
                if case .create = action { #expect(machine.location == nil) }
                if action == .stop { #expect(machine.isPaused) }
                let events: [UploadMachine.Event] =
                    switch action {
                    case .create: [.created(Self.place), .broken(retryAfter: 1)]
                    case .query:
                        [.offset(Int64(random.below(101))), .gone, .broken(retryAfter: nil)]
                    case .send:
                        [
                            .completed(isSame: nil), .completed(isSame: false), .incomplete, .gone,
                            .broken(retryAfter: nil),
                        ]
                    case .delete: [.deleted]
                    case .wait: [.start, .pause]
                    case .stop: [.resume]
                    case .complete, .fail: []
                    }
                let event = random.once(in: 20) ? .pause : random.one(of: events)
                if event == .completed(isSame: false) { corrupt += 1 }
                action = machine.handle(event)
            }
            #expect(corrupt <= 2)
        }
    }

    @Test func `answers become events`() {
        func event(
            _ status: Int, _ headers: [(name: String, value: String)] = [], _ body: String = "",
            to action: UploadMachine.Action
        ) -> UploadMachine.Event {
            UploadMachine.Event(
                TransportResponse(
                    status: status, headers: Fields(headers), body: Array(body.utf8)), to: action,
                digest: [UInt8](repeating: 0xAB, count: 32))
        }
        let (query, send) = (
            UploadMachine.Action.query(Self.place), UploadMachine.Action.send(Self.place, from: 0)
        )
        let created = #"{"id":"c","upload_url":"https://s/uploads/t"}"#
        #expect(event(201, [], created, to: .create) == .created(Self.place))
        #expect(event(201, [], "<html>", to: .create) == .broken(retryAfter: nil))
        #expect(event(200, [("Upload-Offset", "7")], to: query) == .offset(7))
        #expect(event(200, to: query) == .broken(retryAfter: nil))
        for status in [404, 410] {
            #expect(event(status, to: query) == .gone)
            #expect(event(status, to: send) == .gone)
            #expect(event(status, to: .create) == .broken(retryAfter: nil))
        }
        let tag = String(repeating: "ab", count: 32)
        #expect(event(200, [("ETag", "\"\(tag)\"")], "{}", to: send) == .completed(isSame: true))
        #expect(event(201, [("ETag", "W/\"\(tag)\"")], "{}", to: send) == .completed(isSame: true))
        let wrong = String(repeating: "cd", count: 32)
        #expect(event(200, [("ETag", "\"\(wrong)\"")], "{}", to: send) == .completed(isSame: false))
        #expect(event(200, [("ETag", "\"5-6\"")], "{}", to: send) == .completed(isSame: nil))
        #expect(event(200, [], "<html>", to: send) == .broken(retryAfter: nil))
        #expect(event(308, to: send) == .incomplete)
        for status in [408, 425, 429, 500, 503, 507, 520] {
            #expect(event(status, [("Retry-After", "4")], to: send) == .broken(retryAfter: 4))
        }
        let error = #"{"id":"invalid_property","code":1,"message":"m","url":"u"}"#
        for action in [.create, send] as [UploadMachine.Action] {
            guard case .refused = event(422, [], error, to: action),
                case .refused = event(413, [], "", to: action),
                case .broken = event(422, [], "<html>", to: action)
            else {
                Issue.record("\(action)")
                continue
            }
        }
    }
}

@Suite struct DownloadMachineTests {
    private func machine(have: Int64 = 40) -> (DownloadMachine, DownloadMachine.Action) {
        var machine = DownloadMachine(size: 100)
        let action = machine.handle(.start(have: have))
        return (machine, action)
    }

    @Test func `a download locates, receives, verifies and completes (K43)`() {
        var (machine, action) = machine(have: 0)
        #expect(action == .locate)
        #expect(machine.handle(.located("u")) == .get("u", from: 0))
        #expect(machine.handle(.began(at: 0)) == .receive(at: 0))
        #expect(machine.handle(.ended(have: 70)) == .wait(seconds: nil))
        #expect(machine.handle(.start(have: 70)) == .get("u", from: 70))
        #expect(machine.handle(.began(at: 70)) == .receive(at: 70))
        #expect(machine.handle(.ended(have: 100)) == .verify)
        #expect(machine.handle(.verified(true)) == .complete)
    }

    @Test(
        arguments: [
            (.began(at: 40), .receive(at: 40)), (.began(at: 0), .receive(at: 0)),
            (.began(at: 60), .get("u", from: 0)), (.unsatisfiable, .get("u", from: 0)),
            (.gone, .fail(.contentGone)), (.broken(retryAfter: 9), .wait(seconds: 9)),
            (.forbidden, .wait(seconds: nil)), (.pause, .stop), (.cancel, .fail(.cancelled)),
        ] as [(DownloadMachine.Event, DownloadMachine.Action)])
    func `what follows an answer (K43)`(
        event: DownloadMachine.Event, action: DownloadMachine.Action
    ) {
        var (machine, _) = machine()
        #expect(machine.handle(.located("u")) == .get("u", from: 40))
        #expect(machine.handle(event) == action)
    }

    @Test func `an expired URL is replaced, one that expires at once after a delay (K43)`() {
        var (machine, _) = machine()
        _ = machine.handle(.located("u"))
        _ = machine.handle(.began(at: 40))
        _ = machine.handle(.ended(have: 50))
        #expect(machine.handle(.start(have: 50)) == .get("u", from: 50))
        #expect(machine.handle(.forbidden) == .locate)
        #expect(machine.handle(.located("v")) == .get("v", from: 50))
        #expect(machine.handle(.forbidden) == .wait(seconds: nil))
        #expect(machine.handle(.start(have: 50)) == .locate)
    }

    @Test func `a wrong digest is downloaded once more from the start (K43)`() {
        var (machine, _) = machine()
        _ = machine.handle(.located("u"))
        _ = machine.handle(.began(at: 40))
        #expect(machine.handle(.ended(have: 100)) == .verify)
        #expect(machine.handle(.verified(false)) == .get("u", from: 0))
        _ = machine.handle(.began(at: 0))
        #expect(machine.handle(.ended(have: 100)) == .verify)
        #expect(machine.handle(.verified(false)) == .fail(.contentCorrupt))
    }

    @Test func `the last byte is requested again, for the digest (K43)`() {
        for have in [99, 100, 500] as [Int64] {
            var (machine, _) = machine(have: have)
            #expect(machine.handle(.located("u")) == .get("u", from: 99))
        }
    }

    @Test(arguments: TestRounds.seeds(5, of: 500))
    func `any order of events ends, and never skips a byte`(hundred: UInt64) {
        for seed in hundred * 100..<hundred * 100 + 100 {
            var random = SeededGenerator(seed)
            var machine = DownloadMachine(size: 100)
            var (action, have): (DownloadMachine.Action, Int64) = (
                machine.handle(.start(have: 0)), 0
            )
            for _ in 0..<200 where machine.end == nil {
                let events: [DownloadMachine.Event]
                switch action {
                case .locate: events = [.located("u"), .broken(retryAfter: nil), .gone]
                case .get(_, let position):
                    #expect(position <= have)
                    events = [
                        .began(at: position), .began(at: 0), .forbidden, .unsatisfiable,
                        .broken(retryAfter: 1),
                    ]
                case .receive(let position):
                    #expect(position <= have)
                    have = position + Int64(random.below(101 - Int(position)))
                    if random.once(in: 3) { have = 100 }
                    events = [.ended(have: have)]
                case .verify:
                    #expect(have == 100)
                    events = [.verified(true), .verified(false)]
                case .wait: events = [.start(have: have)]
                case .stop: events = [.resume]
                case .complete, .fail: events = []
                }
                action = machine.handle(random.once(in: 20) ? .pause : random.one(of: events))
                if machine.isPaused { #expect(action == .stop || machine.end != nil) }
            }
        }
    }

    @Test func `heads of answers become events`() {
        func event(
            _ status: Int, _ headers: [(name: String, value: String)] = []
        ) -> DownloadMachine.Event {
            DownloadMachine.Event(status: status, Fields(headers), from: 40, size: 100)
        }
        #expect(event(206, [("Content-Range", "bytes 40-99/100")]) == .began(at: 40))
        #expect(event(206, [("Content-Range", "bytes 41-99/100")]) == .broken(retryAfter: nil))
        #expect(event(200, [("Content-Length", "100")]) == .began(at: 0))
        #expect(event(200, [("Content-Length", "12")]) == .broken(retryAfter: nil))
        #expect(event(403) == .forbidden)
        #expect(event(404) == .gone)
        #expect(event(410) == .gone)
        #expect(event(416) == .unsatisfiable)
        #expect(event(503, [("Retry-After", "2")]) == .broken(retryAfter: 2))
        #expect(event(503, [("Retry-After", "\(Int.max)")]) == .broken(retryAfter: 3600))
        #expect(event(503, [("Retry-After", "-5")]) == .broken(retryAfter: 0))
    }

    @Test func `the digest of a content is read from its header`() {
        #expect(reprDigest("sha-512=:AA==:, sha-256=:AQI=:") == [1, 2])
        #expect(reprDigest("md5=:AA==:") == nil)
        #expect(reprDigest(nil) == nil)
    }
}
