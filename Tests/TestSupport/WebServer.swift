package import Foundation
import Glibc

/// A web server on loopback that sends given bytes and closes the connection.
package final class WebServer: Sendable {
    /// Writes to the connection; returns false when the client is gone.
    package typealias Write = ([UInt8]) -> Bool

    package let port: UInt16
    private let listener: Int32

    /// The server cannot be created.
    private struct NoServer: Error {}

    /// Creates a server; `answer` gets the request's path and writes everything, including the header.
    package init(_ answer: @escaping @Sendable (_ path: String, _ write: Write) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let bound = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard bound else { throw NoServer() }
        port = UInt16(bigEndian: address.sin_port)
        // The server has its own threads: answers block while the client reads nothing.
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 {
                    close(listener)
                    return
                }
                Thread.detachNewThread { WebServer.serve(connection, answer) }
            }
        }
    }

    deinit {
        // This ends the accepting thread, which closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    package func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw NoServer() }
        return url
    }

    private static func serve(_ connection: Int32, _ answer: (String, Write) -> Void) {
        defer { close(connection) }
        var request: [UInt8] = []
        var byte: UInt8 = 0
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard unsafe recv(connection, &byte, 1, 0) == 1 else { return }
            request.append(byte)
        }
        let words = String(decoding: request, as: UTF8.self).split(separator: " ")
        answer(words.count > 1 ? String(words[1]) : "") { bytes in
            var count = 0
            while count < bytes.count {
                let put = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe send(
                        connection, bytes.baseAddress?.advanced(by: count), bytes.count - count,
                        Int32(MSG_NOSIGNAL))
                }
                if put <= 0 { return false }
                count += put
            }
            return true
        }
    }

    /// Returns the header of an answer.
    package static func head(_ status: String, _ fields: String...) -> [UInt8] {
        Array(
            (["HTTP/1.1 \(status)"] + fields + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8)
    }
}
