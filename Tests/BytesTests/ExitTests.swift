import Bytes
import Dispatch
import Glibc
import Testing

@Suite struct `The end of the process` {
    @Test func `comes while digests are computed`() async {
        for _ in 0..<16 {
            await #expect(processExitsWith: .success) {
                for _ in 0..<4 {
                    DispatchQueue.global().async {
                        while true { _ = Signature.of("a text", key: [1, 2, 3]) }
                    }
                }
                usleep(50_000)
                exit(0)
            }
        }
    }
}
