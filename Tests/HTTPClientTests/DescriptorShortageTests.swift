import Dispatch
import Glibc
import HTTP
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(5))) struct `A client without descriptors` {
    @Test func `watches no socket that cannot be doubled`() {
        #expect(WatchedSocket(-1, DispatchQueue(label: "nobody")) { _ in } == nil)
    }

    /// In a process of its own, because the limit is the process's.
    @Test func `ends a request, and serves the next when there are some again`() async {
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
            // The socket finds the reserve behind it and its double does not; the socket does not.
            for reserve: Int32 in [17, 16] {
                var said: HTTPClientError?
                // What the last request held may be closed only now, and leave more than was counted.
                for _ in 0..<100 where said == nil {
                    // What was inherited has gaps; filled, only what is above them counts.
                    var lowest: Int32
                    repeat { lowest = dup(0) } while (0..<700).contains(lowest)
                    close(lowest)
                    limit.rlim_cur = rlim_t(lowest + reserve)
                    setrlimit(resource, &limit)
                    do throws(HTTPClientError) {
                        _ = try await client.send(request, bodyLimit: 0)
                    } catch {
                        said = error
                    }
                    limit.rlim_cur = old
                    setrlimit(resource, &limit)
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(said == .noDescriptor)
            }
            #expect(try await client.send(request, bodyLimit: 0).status == 200)
        }
    }
}
