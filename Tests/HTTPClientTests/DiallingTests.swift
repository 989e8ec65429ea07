import HTTP
import Locking
import Testing

@testable import HTTPClient

@Suite struct `A request that reached nobody` {
    @Test(
        arguments: [
            (7, false, .refusedAddress), (7, true, .unreachable), (28, false, .timedOut),
            (52, true, .broken),
        ] as [(Int32, Bool, HTTPClientError.Kind)])
    func `ends for a refused address only where no other one was dialled`(
        result: Int32, hasDialled: Bool, kind: HTTPClientError.Kind
    ) async throws {
        let library = try CurlLibrary.load()
        let said = Locked<HTTPClientError.Kind?>(nil)
        _ = await withCheckedContinuation { (waiter: CurlTransfer.HeadWaiter) in
            do throws(HTTPClientError) {
                let transfer = try CurlTransfer(
                    ClientRequest(.get, "http://a/"), 1, waiter, library, HTTPClientSettings())
                transfer.refusal = HTTPClientError(.refusedAddress, "nobody calls there")
                transfer.hasDialled = hasDialled
                let outcome = transfer.outcome(of: result)
                if case .failure(let error) = outcome { said.withLock { $0 = error.kind } }
                _ = transfer.finish(outcome)
            } catch {
                waiter.resume(returning: .failure(error))
            }
        }
        #expect(said.withLock { $0 } == kind)
    }
}
