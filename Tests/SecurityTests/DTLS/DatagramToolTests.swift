import Foundation
import MultipeerSecurity
import TestSupport
import Testing

@Suite("10.3 DTLS with the openssl command", .enabled(if: OpenSSLTool.isPresent), .inTurns)
struct DatagramToolTests {
    /// A running `openssl` whose standard input is `text`, and stays open.
    private struct Tool {
        private let process: ToolProcess

        init(_ command: String, saying text: String) throws {
            let key = DatagramPair.key.map { String($0, radix: 16) }.joined()
            let profile = "-dtls1_2 -psk_identity mpc/1 -cipher ECDHE-PSK-CHACHA20-POLY1305 -psk \(key)"
            let words = "\(command) \(profile)".split(separator: " ").map(String.init)
            process = try ToolProcess(OpenSSLTool.path, words, input: text)
        }

        /// Ends it and returns what it printed.
        func end() -> String {
            process.kill()
            return process.wait().output
        }
    }

    /// Exchanges data over the socket until something was read and sent, for at most 20 s; returns what was read.
    private func talk(_ end: inout DatagramEnd, over socket: inout LoopbackUDP) throws -> String {
        var hasSpoken = false
        for _ in 0..<200 {
            end.step()
            for datagram in end.takeDatagrams() { socket.send(datagram) }
            if let datagram = socket.receive(within: 100) {
                end.receive(datagram)
            } else {
                try end.channel.retransmit()
            }
            if end.isEstablished, !hasSpoken {
                try end.write(Array("from the channel\n".utf8))
                hasSpoken = true
            }
            for datagram in end.takeDatagrams() { socket.send(datagram) }
            if hasSpoken, !end.received.isEmpty { break }
        }
        return String(decoding: end.takeReceived().joined(), as: UTF8.self)
    }

    @Test("s_client completes the handshake, and data is exchanged both ways [dgram.profile]")
    func client() throws {
        var socket = try LoopbackUDP()
        let tool = try Tool("s_client -quiet -connect 127.0.0.1:\(socket.port)", saying: "from the tool\n")
        var end = try DatagramEnd(.server, key: DatagramPair.key)
        let heard = try talk(&end, over: &socket)
        // The tool's close_notify, or nothing: by then it has printed.
        _ = socket.receive(within: 200)
        let printed = tool.end()
        #expect(heard == "from the tool\n" && printed.contains("from the channel"))
    }

    @Test("s_server completes the handshake, and data is exchanged both ways [dgram.profile]")
    func server() throws {
        let port = try LoopbackUDP.freePort()
        let tool = try Tool("s_server -quiet -nocert -accept 127.0.0.1:\(port)", saying: "from the tool\n")
        var socket = try LoopbackUDP(peer: port)
        var end = try DatagramEnd(.client, key: DatagramPair.key)
        let heard = try talk(&end, over: &socket)
        _ = socket.receive(within: 200)
        let printed = tool.end()
        #expect(heard == "from the tool\n" && printed.contains("from the channel"))
    }
}
