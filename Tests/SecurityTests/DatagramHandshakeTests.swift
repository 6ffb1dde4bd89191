import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

@Suite("10.3 DTLS handshakes")
struct DatagramHandshakeTests {
    @Test("two ends with one key agree in two round trips and carry bytes both ways [dgram.key]")
    func agreement() throws {
        var pair = try DatagramPair()
        pair.client.step()
        var flights: [Int] = []
        for _ in 0..<2 {
            let toServer = pair.client.takeDatagrams()
            flights.append(toServer.count)
            for datagram in toServer { pair.server.receive(datagram) }
            let toClient = pair.server.takeDatagrams()
            flights.append(toClient.count)
            for datagram in toClient { pair.client.receive(datagram) }
        }
        #expect(flights == [1, 1, 1, 1])
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        try pair.client.write([1, 2, 3])
        try pair.server.write([UInt8](repeating: 4, count: DatagramChannel.largestContent))
        pair.exchange()
        #expect(pair.server.takeReceived() == [[1, 2, 3]])
        #expect(pair.client.takeReceived() == [[UInt8](repeating: 4, count: DatagramChannel.largestContent)])
    }
}
