import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Devices that read the feed of their user at random times, a random part at a time, converge to what a fresh device
/// reads (Y1).
@Suite struct `Feeds beside a model` {
    // 212 has found participants that were not woken, and a message that came twice.
    @Test(arguments: TestRounds.seeds(2, of: 12) + [212])
    func `Y1: devices with any cuts, limits and histories show what a fresh one shows`(
        seed: UInt64
    ) async throws {
        for limit in [100, 2] {
            var run = try await FeedRun(seed: seed, wideAbove: limit)
            for step in 1...300 { try await run.step(step) }
            #expect(run.live.given > 100, "seed \(seed)")
            try await run.run.replay()
        }
    }

    @Test(arguments: TestRounds.seeds(2, of: 12))
    func `Y1: devices converge while feeds are trimmed and epochs begin`(
        seed: UInt64
    ) async throws {
        var run = try await FeedRun(seed: seed, wideAbove: 100, resetsDevices: true)
        for step in 1...300 { try await run.step(step) }
        #expect(run.trimmings > 3 && run.epochs > 3, "seed \(seed)")
        #expect(run.devices.resets > 20, "seed \(seed)")
        #expect(run.live.given > 100, "seed \(seed)")
        // Trimmed rows are not made again.
        try await run.run.replay(except: ["touched"])
    }

    @Test(arguments: TestRounds.seeds(4, of: 24))
    func `Y1, X1: devices converge after conversations were merged`(seed: UInt64) async throws {
        for limit in [100, 2] {
            var run = try await MergedFeedRun(seed: seed, wideAbove: limit)
            for step in 1...60 { try await run.step(step) }
            try await run.merge()
            for step in 61...100 { try await run.step(step) }
            try await run.merging.sample.expectSameRowsAgain("seed \(seed)")
        }
    }
}

/// Readers that have everything and are given what new events change, which must be what each would read alone.
struct LiveReaders {
    let users: [UserID]
    private var random: SeededGenerator
    private let seed: UInt64
    /// The end of the log when the readers were given something last.
    private var examined = LogPosition.start
    /// The pages and changes that readers were given.
    private(set) var given = 0

    init(_ users: [UserID], seed: UInt64) {
        self.users = users
        self.seed = seed
        random = SeededGenerator(seed ^ 0x11FE)
    }

    /// Sometimes reads what the last events have changed.
    mutating func step(_ step: Int, in sample: SampleApplication) async throws {
        if random.once(in: 2) { try await read(step, in: sample) }
    }

    /// Reads what the last events have changed.
    mutating func read(_ step: Int, in sample: SampleApplication) async throws {
        let comment = Comment(rawValue: "seed \(seed), step \(step)")
        let (limit, bytes) = (random.one(of: [2, 200]), Int64(64 << 10))
        let histories = [FeedHistory.all, .unread, .newest(0), .newest(2), .newest(25)]
        let history = random.one(of: histories)
        let interest = FeedActivity.Interest.page(history, limit: limit, bytes: bytes)
        var readers: [UserID: Set<FeedActivity.Interest>] = [:]
        for user in users { readers[user] = [interest, .changes] }
        let start = examined
        guard
            let found = try await sample.store.feedActivity(
                after: start, among: readers, in: sample.application)
        else { return }
        examined = found.through
        let cursor = FeedCursor(epoch: try await sample.store.epoch(), position: start)
        for user in Set(users) {
            let page = try await sample.store.feed(
                of: user, after: cursor, history: history, limit: limit, bytes: bytes,
                in: sample.application)
            let changes = try await sample.store.changes(
                of: user, after: start, in: sample.application)
            // A reader that is not woken misses nothing.
            if !found.users.contains(user) {
                #expect(page.entries.isEmpty || found.later.contains(user), comment)
                #expect(changes.changes.isEmpty, comment)
            }
            if case .page(let given)? = found.contents[user]?[interest] {
                self.given += 1
                #expect(given.entries == page.entries, comment)
                #expect(given.cursor == page.cursor, comment)
                #expect(given.isCut == page.isCut && given.end == page.end, comment)
            }
            if case .changes(let given)? = found.contents[user]?[.changes] {
                self.given += 1
                #expect(given.changes == changes.changes, comment)
                #expect(given.through == changes.through, comment)
                #expect(given.isCut == changes.isCut, comment)
            }
        }
    }
}

/// The devices of a run and the random choices of what they read.
struct FeedDevices {
    var devices: [FeedDevice]
    var random: SeededGenerator
    let seed: UInt64
    /// The number of changes made when each device began to catch up; `nil` for one that is ready.
    private var started: [Int?]
    /// Counts what others than the devices do.
    var actions = 0
    /// The snapshots that devices with a cursor have begun.
    private(set) var resets = 0

    init(_ users: [UserID], seed: UInt64) {
        devices = users.map(FeedDevice.init)
        started = users.map { _ in nil }
        random = SeededGenerator(seed ^ 0xFEED)
        self.seed = seed
    }

    /// One device reads a page or a part of it.
    mutating func read(_ index: Int, in sample: SampleApplication) async throws {
        let history = random.one(
            of: [.all, .unread, .newest(0), .newest(1), .newest(3), .newest(10)] as [FeedHistory])
        let page = try await sample.store.feed(
            of: devices[index].user, after: devices[index].cursor, history: history,
            limit: random.one(of: [1, 2, 3, 7, 200]), in: sample.application)
        if devices[index].isReady { started[index] = actions }
        if page.isReset, devices[index].cursor != nil { resets += 1 }
        let cut = random.once(in: 4) ? random.number(0...page.entries.count) : .max
        // What a device has stored survives when it is killed; the rest of the page is read again.
        devices[index].apply(page, count: cut)
    }

    /// A device reads until it is ready, and is compared with a fresh one.
    mutating func finish(
        _ index: Int, in sample: SampleApplication, _ step: Int
    ) async throws {
        var pages = 0
        repeat {
            try await read(index, in: sample)
            pages += 1
        } while !devices[index].isReady && pages < 5000
        let comment = Comment(
            rawValue: "seed \(seed), step \(step), device \(index) of \(devices[index].user)")
        #expect(devices[index].isReady, comment)
        let fresh = try await sample.freshDevice(of: devices[index].user)
        devices[index].expectSame(as: fresh, comment)
        try await sample.expectWhole(fresh, comment)
        // Nothing has changed meanwhile, so no object came twice.
        if started[index] == actions {
            let received = devices[index].received
            let twice = Dictionary(grouping: received) { $0 }.filter { $0.value.count > 1 }.keys
            #expect(twice.isEmpty, comment)
        }
    }
}

/// Random actions as in the model of views, and further ones, with devices that read meanwhile.
struct FeedRun {
    var run: ModelRun
    var devices: FeedDevices
    private(set) var live: LiveReaders
    private var announcements: [Announcement.ID] = []
    /// Whether feeds are trimmed and epochs begin during the run.
    private let resetsDevices: Bool
    private(set) var trimmings = 0
    private(set) var epochs = 0

    init(seed: UInt64, wideAbove limit: Int, resetsDevices: Bool = false) async throws {
        self.resetsDevices = resetsDevices
        run = try await ModelRun(seed: seed, wideAbove: limit)
        devices = FeedDevices(run.users + run.users, seed: seed)
        live = LiveReaders(run.users, seed: seed)
    }

    mutating func step(_ step: Int) async throws {
        try await act(step)
        devices.actions += 1
        for _ in 0..<devices.random.number(0...2) {
            try await devices.read(devices.random.below(devices.devices.count), in: run.sample)
        }
        try await live.step(step, in: run.sample)
        if devices.random.once(in: 10) {
            try await devices.finish(
                devices.random.below(devices.devices.count), in: run.sample, step)
        }
        guard step.isMultiple(of: 100) else { return }
        for index in devices.devices.indices {
            try await devices.finish(index, in: run.sample, step)
            let before = devices.devices[index].received.count
            try await devices.finish(index, in: run.sample, step)
            #expect(
                before == 0 || devices.devices[index].received.isEmpty,
                "seed \(run.seed): nothing has changed")
        }
    }

    private mutating func act(_ step: Int) async throws {
        if resetsDevices, devices.random.once(in: 15) {
            return devices.random.once(in: 2)
                ? try await trim(step) : try await beginEpoch()
        }
        switch devices.random.number(1...10) {
        case 1: try await changeIdentity()
        case 2: try await announce()
        case 3: try await edit()
        default: try await run.step()
        }
    }

    /// Forgets the objects that ceased to exist before now.
    private mutating func trim(_ step: Int) async throws {
        // Connected readers are never behind by the time that rows are retained.
        try await live.read(step, in: run.sample)
        run.sample.wait(milliseconds: 1)
        try await run.store.trimFeeds(before: run.store.environment.now())
        trimmings += 1
    }

    private mutating func beginEpoch() async throws {
        try await run.store.beginEpoch()
        epochs += 1
    }

    private mutating func changeIdentity() async throws {
        var identity = Identity(userID: devices.random.one(of: run.users))
        identity[.displayName] = "name \(devices.random.number(1...1000))"
        try await run.store.replaceIdentity(identity, in: run.application)
    }

    private mutating func announce() async throws {
        let user = devices.random.one(of: run.users)
        guard !announcements.isEmpty, devices.random.once(in: 2) else {
            let parts = [
                try MessagePart.Draft(mimeType: "text/plain", body: .inline([0x61]))
            ]
            let draft = try Announcement.Draft(
                recipients: run.users.filter { other in other != user }, sender: .user(user),
                parts: parts)
            announcements.append(
                try await run.store.announce(draft, in: run.application).object.announcement.id)
            return
        }
        let id = devices.random.one(of: announcements)
        do {
            if devices.random.once(in: 2) {
                try await run.store.deleteAnnouncement(id, for: user, in: run.application)
            } else {
                try await run.store.recordReceipt(.read, of: id, by: user, in: run.application)
            }
        } catch is Rejection {
            // The sender is no recipient, and a user deletes an announcement once.
        }
    }

    /// Changes the parts of a message.
    private mutating func edit() async throws {
        guard let index = run.conversationIndex(), let message = run.message(in: index) else {
            return
        }
        let draft = try MessagePart.Draft(
            mimeType: "text/plain", body: .inline(Array("\(devices.random.number(1...99))".utf8)))
        do {
            try await run.store.changeParts(
                .replace(.index(0), draft),
                of: run.model.conversations[index].sent[message].id, in: nil, by: .system,
                in: run.application)
        } catch is Rejection {
            // The message is deleted.
        }
    }
}

/// Two distinct conversations of the same users, which are merged, with devices that read meanwhile.
struct MergedFeedRun {
    var merging: MergeRun
    var devices: FeedDevices
    private var live: LiveReaders

    init(seed: UInt64, wideAbove limit: Int) async throws {
        merging = try await MergeRun(seed: seed, wideAbove: limit)
        devices = FeedDevices(merging.users + merging.users, seed: seed)
        live = LiveReaders(merging.users, seed: seed)
    }

    mutating func step(_ step: Int) async throws {
        try await merging.step()
        devices.actions += 1
        for _ in 0..<devices.random.number(0...2) {
            try await devices.read(
                devices.random.below(devices.devices.count), in: merging.sample)
        }
        try await live.step(step, in: merging.sample)
        if devices.random.once(in: 10) || step == 60 && devices.random.once(in: 2) || step == 100 {
            for index in devices.devices.indices where step == 100 || devices.random.once(in: 3) {
                try await devices.finish(index, in: merging.sample, step)
            }
        }
    }

    mutating func merge() async throws {
        for conversation in merging.conversations {
            try await merging.sample.reconcile(
                conversation, sortingAtMost: devices.random.number(1...4))
        }
        devices.actions += 1
    }
}
