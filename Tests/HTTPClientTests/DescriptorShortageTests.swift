import Dispatch
import Glibc
import HTTP
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(5))) struct `A client without descriptors` {
    @Test func `does not watch a socket that cannot be duplicated`() {
        #expect(WatchedSocket(-1, DispatchQueue(label: "unused")) { _ in } == nil)
    }

    /// Runs in its own process, because the limit is per process.
    @Test func `fails a request, and succeeds again when descriptors are free`() async {
        await #expect(processExitsWith: .success) {
            let server = try ScriptedServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            let client = try HTTPClient()
            let request = ClientRequest(.get, "http://127.0.0.1:\(server.port)/")
            #expect(try await client.send(request, bodyLimit: 0).status == 200)

            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            getrlimit(resource, &limit)
            let old = limit.rlim_cur
            // With 17 the socket can be opened and its duplicate cannot; with 16 the socket cannot.
            for reserve: Int32 in [17, 16] {
                var failure: HTTPClientError?
                // Descriptors of the last request may be closed only now, which leaves more than was counted.
                for _ in 0..<3000 where failure == nil {
                    // Inherited descriptors leave gaps in the numbers; fill them, so that only those above count.
                    var lowest: Int32
                    repeat { lowest = dup(0) } while (0..<700).contains(lowest)
                    close(lowest)
                    limit.rlim_cur = rlim_t(lowest + reserve)
                    setrlimit(resource, &limit)
                    do throws(HTTPClientError) {
                        _ = try await client.send(request, bodyLimit: 0)
                    } catch {
                        failure = error
                    }
                    limit.rlim_cur = old
                    setrlimit(resource, &limit)
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(failure == .noDescriptor)
            }
            #expect(try await client.send(request, bodyLimit: 0).status == 200)
        }
    }
}
