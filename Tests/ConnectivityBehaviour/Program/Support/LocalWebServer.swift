import MultipeerConnectivity

/// A web server on 127.0.0.1 with one document, at `/document`, for one request after the other.
final class LocalWebServer: Sendable {
    let port: UInt16

    /// Listens, and answers on a thread of its own to the end of the process.
    init(_ document: Data) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw Failure("there is no web server: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true { LocalWebServer.answer(accept(listener, nil, nil), document) }
        }
    }

    /// Returns the address of a page.
    func url(_ page: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(page)") else { throw Failure("no URL") }
        return url
    }

    private static func answer(_ connection: Int32, _ document: Data) {
        let handle = FileHandle(fileDescriptor: connection, closeOnDealloc: true)
        // The request is one small segment.
        let request = String(decoding: handle.availableData, as: UTF8.self)
        let isFound = request.hasPrefix("GET /document ")
        let head =
            isFound
            ? "HTTP/1.1 200 OK\r\nContent-Length: \(document.count)\r\n"
            : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
        handle.write(Data((head + "Connection: close\r\n\r\n").utf8) + (isFound ? document : Data()))
    }
}
