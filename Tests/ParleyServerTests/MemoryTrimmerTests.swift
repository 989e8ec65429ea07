import Testing

@testable import ParleyServer

@Suite struct `Code pages` {
    @Test func `are mappings of a file with execute permission and no page of its own`() {
        let map = """
            55d0c0000000-55d0c0200000 r--p 00000000 fe:00 1 /usr/bin/parley
            Rss:                1024 kB
            Anonymous:             0 kB
            VmFlags: rd mr mw me sd
            55d0c0200000-55d0c0a00000 r-xp 00200000 fe:00 1 /usr/bin/parley
            Rss:                4096 kB
            Private_Dirty:      4096 kB
            Anonymous:             0 kB
            VmFlags: rd ex mr mw me sd
            7f0000000000-7f0000100000 r-xp 00000000 fe:00 2 /usr/lib/with a breakpoint.so
            Anonymous:             4 kB
            7f0000200000-7f0000300000 r-xp 00000000 00:00 0
            Anonymous:             0 kB
            7f0000300000-7f0000400000 rw-p 00000000 fe:00 2 /usr/lib/libc.so.6
            Anonymous:             0 kB
            7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]
            Anonymous:             0 kB
            """
        #expect(CodePages.ranges(in: map) == [0x55d0_c020_0000..<0x55d0_c0a0_0000])
        #expect(CodePages.ranges(in: "").isEmpty)
    }

    /// The libraries are mapped behind the program, and the kernel returns the list in pieces of some mappings.
    @Test func `are read to the end of the list, which has those of libraries`() {
        let map = ProcessUsage.text("/proc/self/smaps")
        #expect(map.contains("/libc.so"))
        #expect(map.contains("[vdso]"))
        #expect(CodePages.ranges(in: map).count > 4)
    }

    @Test func `leave the memory of the process, which continues`() {
        // Other tests run meanwhile and map some of them again, and all of them if this one is stalled.
        var isSmaller = false
        for _ in 0..<20 where !isSmaller {
            let before = Self.residentCode
            #expect(before > 0)
            CodePages.release()
            isSmaller = Self.residentCode < before
        }
        #expect(isSmaller)
    }

    /// The resident code in KiB.
    private static var residentCode: Int {
        var (sum, isCode) = (0, false)
        for line in ProcessUsage.text("/proc/self/smaps").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words[0].last != ":" { isCode = words[1] == "r-xp" }
            if isCode, words[0] == "Rss:" { sum += Int(words[1]) ?? 0 }
        }
        return sum
    }
}

@Suite struct `The activity of a process` {
    @Test func `is quiet after two half-minutes with little processor time, then every minute`() {
        var activity = ProcessActivity()
        let busy = ProcessActivity.quietTime + 1
        let times = [7, 8, 9, 10, 11, 11 + busy, 12 + busy, 13 + busy, 13 + 2 * busy]
        let quiet = times.map { time in activity.isQuiet(at: time) }
        #expect(quiet == [false, false, true, false, true, false, false, true, false])
    }
}
