import Glibc
import SystemSupport
import Testing

@Suite struct `The descriptor reserve` {
    @Test func `files keep 8 descriptors free, connections 16 (H183)`() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = Int32(clamping: limit.rlim_cur)
        #expect(DescriptorLimit.leavesReserve(above: 3, for: .connection))
        #expect(DescriptorLimit.leavesReserve(above: count - 17, for: .connection))
        #expect(!DescriptorLimit.leavesReserve(above: count - 16, for: .connection))
        #expect(DescriptorLimit.leavesReserve(above: count - 9, for: .file))
        #expect(!DescriptorLimit.leavesReserve(above: count - 8, for: .file))
    }
}
