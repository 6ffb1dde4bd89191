import MultipeerFraming
import MultipeerSimulation
import TestSupport
import Testing

@Suite("6.3 A network under an attacker's control", .computing)
struct HostileNetworkTests {
    /// The lower one dials, and everything arrives; `meddle` is what the attacker does before each delivery.
    private func introduce(
        _ network: HostileNetwork, by answerer: HostileNetwork.Answerer = .peer, meddle: () -> Void = {}
    ) {
        network.answerDial(of: 0, 0, by: answerer)
        for _ in 0..<6 {
            meddle()
            network.deliverEverything()
            for side in [0, 1] { network.decide(on: side, isTrusted: true) }
        }
    }

    @Test("frames delivered unchanged make a link", arguments: [true, false])
    func delivered(_ isEncrypted: Bool) {
        let network = HostileNetwork(isEncrypted: isEncrypted)
        introduce(network)
        #expect(network.links == 2 && network.failure == nil)
    }

    @Test("one changed bit in any frame of either side keeps both from linking [confirm.mac]")
    func changed() {
        for bit in stride(from: 0, to: 1_600, by: 7) {
            for side in [0, 1] {
                let network = HostileNetwork(isEncrypted: true)
                introduce(network) { network.flip(on: 0, to: side, bit: bit) }
                #expect(network.failure == nil, "bit \(bit) to \(side)")
                #expect(network.links == 0, "bit \(bit) to \(side)")
            }
        }
    }

    @Test(
        "an attacker without a key of the two peers is never linked [tls.pin] [confirm.mac]",
        arguments: [true, false])
    func stranger(_ isEncrypted: Bool) {
        let network = HostileNetwork(isEncrypted: isEncrypted)
        introduce(network, by: .attacker) {
            for side in [0, 1] {
                network.intrude(on: side)
                for which in 0..<4 { network.replay(on: which, to: side, which) }
            }
        }
        #expect(network.links == 0 && network.failure == nil)
    }

    @Test("invented frames, and time, violate no invariant")
    func invented() {
        let network = HostileNetwork(isEncrypted: false)
        var frame = ByteBuffer()
        Frame.select.encode(into: &frame)
        let select = frame.takeAll()
        introduce(network) { for side in [0, 1] { network.inject(on: 0, to: side, select) } }
        for _ in 0..<40 { network.pass(.seconds(1)) }
        #expect(network.links == 0 && network.failure == nil)
    }
}
