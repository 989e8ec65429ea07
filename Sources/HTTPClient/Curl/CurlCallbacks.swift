import CCurl
import Descriptors
import Glibc
import HTTPTransport

// A file of the C boundary: what libcurl calls. Each pointer is valid for its call alone; the transfer
// behind it is held by its loop for as long as its handle is driven.

func setCallbacks(_ functions: UnsafePointer<curl_library>, _ easy: OpaquePointer) {
    unsafe curl_set_octets(functions, easy, Int32(CURL_HEADERFUNCTION)) {
        octets, _, count, transfer in
        guard let (transfer, octets) = unsafe unpack(transfer, octets, count) else { return 0 }
        return unsafe transfer.receiveLine(UnsafeRawBufferPointer(octets)) ? count : 0
    }
    unsafe curl_set_octets(functions, easy, Int32(CURL_WRITEFUNCTION)) {
        octets, _, count, transfer in
        guard let (transfer, octets) = unsafe unpack(transfer, octets, count) else { return 0 }
        return unsafe transfer.receive(UnsafeRawBufferPointer(octets))
    }
    unsafe curl_set_octets(functions, easy, Int32(CURL_READFUNCTION)) {
        octets, one, count, transfer in
        guard let (transfer, octets) = unsafe unpack(transfer, octets, one * count) else {
            return CURL_ABORT
        }
        return unsafe transfer.send(into: octets)
    }
    unsafe curl_set_seek(functions, easy) { transfer, offset, origin in
        guard let transfer = unsafe unpack(transfer), origin == SEEK_SET else { return 1 }
        transfer.sent = offset
        return 0
    }
    unsafe curl_set_open(functions, easy) { transfer, _, address in
        guard let transfer = unsafe unpack(transfer), let address = unsafe address else {
            return Int32(CURL_NO_SOCKET)
        }
        return unsafe transfer.openSocket(address)
    }
}

private func unpack(_ transfer: UnsafeMutableRawPointer?) -> CurlTransfer? {
    unsafe transfer.map { pointer in
        unsafe Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private func unpack(
    _ transfer: UnsafeMutableRawPointer?, _ octets: UnsafeMutablePointer<CChar>?, _ count: Int
) -> (CurlTransfer, UnsafeMutableRawBufferPointer)? {
    guard let transfer = unsafe unpack(transfer), let octets = unsafe octets else { return nil }
    return unsafe (transfer, UnsafeMutableRawBufferPointer(start: octets, count: count))
}

extension CurlTransfer {
    /// Takes a line of a head; false ends the request.
    fileprivate func receiveLine(_ octets: UnsafeRawBufferPointer) -> Bool {
        do throws(HTTPClientError) {
            let line = unsafe String(decoding: octets, as: UTF8.self)
            if let head = try head.read(line) { headEnded(head) }
            return true
        } catch {
            fault = error
            return false
        }
    }

    /// Puts the next octets of the request's body where libcurl sends them from.
    fileprivate func send(into place: UnsafeMutableRawBufferPointer) -> Int {
        let count: Int
        switch request.body {
        case .none: count = 0
        case .octets(let octets):
            let rest = octets[Int(sent)...].prefix(place.count)
            unsafe place.copyBytes(from: rest)
            count = rest.count
        case .stored(let whole, let read):
            do {
                let wanted = Int(min(Int64(place.count), whole - sent))
                let octets = wanted == 0 ? [] : try read(wanted, sent)
                guard octets.count <= place.count, wanted == 0 || !octets.isEmpty else {
                    throw HTTPClientError(.unreadableBody, "it is shorter than was said")
                }
                unsafe place.copyBytes(from: octets)
                count = octets.count
            } catch {
                fault = HTTPClientError(.unreadableBody, "\(error)")
                return CURL_ABORT
            }
        }
        sent += Int64(count)
        request.onSent?(sent)
        if sent == request.body.count { whenSent?() }
        return count
    }

    /// Opens a socket for an address that may be called.
    fileprivate func openSocket(_ address: UnsafeMutablePointer<curl_address>) -> Int32 {
        let length = Int(unsafe address.pointee.length)
        var storage = sockaddr_storage()
        guard length <= MemoryLayout<sockaddr_storage>.size else { return Int32(CURL_NO_SOCKET) }
        let offset = MemoryLayout<curl_address>.offset(of: \.address) ?? 0
        unsafe withUnsafeMutableBytes(of: &storage) { octets in
            unsafe octets.copyMemory(
                from: UnsafeRawBufferPointer(
                    start: UnsafeRawPointer(address) + offset, count: length))
        }
        let peer = SocketAddress.peer(storage)
        if let admits, !admits(peer) {
            refusal = HTTPClientError(.refusedAddress, "\(peer) is not to be called")
            return Int32(CURL_NO_SOCKET)
        }
        let descriptor = unsafe socket(
            address.pointee.family, address.pointee.type | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard descriptor >= 0 else { return Int32(CURL_NO_SOCKET) }
        guard DescriptorLimit.leavesSome(behind: descriptor, for: .connection) else {
            close(descriptor)
            refusal = .noDescriptor
            return Int32(CURL_NO_SOCKET)
        }
        hasDialled = true
        return descriptor
    }
}
