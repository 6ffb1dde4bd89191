import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("6.2 Checks of HELLO", .computing)
struct HelloCheckTests {
    /// A fault of a HELLO, and the code that answers it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: CloseCode
        let change: @Sendable (inout Hello) -> Void
    }

    private static let other = [UInt8](repeating: 0xEE, count: 32)

    static let faults = [
        Fault(testDescription: "no version of ours", code: .version) { $0.versions = [2, 3] },
        Fault(testDescription: "the uid of the receiver", code: .itself) { $0.sender = $0.receiver },
        Fault(testDescription: "another receiver", code: .unknownPeer) {
            $0.receiver = Endpoint(uid: UID(high: 7, low: 7), instance: $0.receiver.instance)
        },
        Fault(testDescription: "an earlier instance of the receiver", code: .unknownPeer) {
            $0.receiver = Endpoint(uid: $0.receiver.uid, instance: 1)
        },
        Fault(testDescription: "a sender nobody awaits", code: .unknownPeer) {
            $0.sender = Endpoint(uid: UID(high: 8, low: 8), instance: 1)
        },
        Fault(testDescription: "another instance of the sender", code: .unknownPeer) {
            $0.sender = Endpoint(uid: $0.sender.uid, instance: 1)
        },
        Fault(testDescription: "other data of the sender", code: .unknownPeer) { $0.myDataReference = other },
        Fault(testDescription: "other data of the receiver", code: .unknownPeer) {
            $0.yourDataReference = other
        },
    ]

    @Test(
        "an invalid HELLO is refused with its code, and nothing else is sent [hello.version] [hello.sender] [hello.receiver] [hello.refs]",
        arguments: faults)
    func refusal(_ fault: Fault) throws {
        var stage = try Stage()
        try stage.connect()
        let id = stage.accept()
        let actions = stage.give(id, stage.hello(fault.change))
        #expect(actions == [.close(id, fault.code)])
    }

    @Test(
        "the dialling side refuses the same HELLOs [hello.version] [hello.sender] [hello.receiver] [hello.refs]",
        arguments: faults)
    func answer(_ fault: Fault) throws {
        var stage = try Stage(weAreLower: true)
        let dial = try #require(try stage.connect().dials.first)
        stage.machine.secured(dial.id, stage.channel, nonce: [UInt8](repeating: 1, count: 32), at: stage.now)
        #expect(stage.machine.takeActions().sent(on: dial.id).count == 1)
        let actions = stage.give(dial.id, stage.hello(fault.change))
        #expect(actions.first == .close(dial.id, fault.code))
        #expect(actions.sent(on: dial.id).isEmpty && actions.links.isEmpty)
    }

    @Test("the highest common version is used, whatever else is listed [hello.version]")
    func versions() throws {
        var stage = try Stage()
        try stage.connect()
        let id = stage.accept()
        let actions = stage.give(id, stage.hello { $0.versions = [0x7A7A, 9, 1] })
        #expect(actions.code(of: id) == nil && actions.contains(.ask(stage.peer.endpoint.uid, id)))
    }

    @Test("an end that expects no peer answers UNKNOWN_PEER [hello.sender]")
    func awaitsNobody() throws {
        var stage = try Stage()
        let id = stage.accept()
        #expect(stage.give(id, stage.hello()) == [.close(id, .unknownPeer)])
    }

    @Test(
        "the answer to a dial must come from the dialled peer, not from another expected one [hello.sender]")
    func otherAwaited() throws {
        var stage = try Stage(weAreLower: true)
        let dial = try #require(try stage.connect().dials.first)
        let third = try Stage.local("third", high: 6, instance: 6, .optional)
        let data = try Stage.issue(third, for: nil, [try Stage.address(3)], &stage.random, at: stage.now)
        let open = try stage.machine.connectionData(
            for: nil, candidates: [try Stage.address(1)], token: stage.random.bytes(32), at: stage.now)
        try stage.connect(data)
        stage.machine.secured(dial.id, stage.channel, nonce: [UInt8](repeating: 1, count: 32), at: stage.now)
        _ = stage.machine.takeActions()
        let actions = stage.give(
            dial.id,
            stage.hello {
                $0.sender = third.endpoint
                $0.myDataReference = data.reference
                $0.yourDataReference = open.reference
            })
        #expect(actions.code(of: dial.id) == .unknownPeer)
    }

    @Test(
        "a frame that is not allowed first ends the connection with PROTOCOL [hello.first]",
        arguments: [
            Frame.select, .selected, .ping(1), .pong(1), .confirm(mac: [UInt8](repeating: 0, count: 32)),
        ])
    func first(_ frame: Frame) throws {
        var stage = try Stage()
        try stage.connect()
        let id = stage.accept()
        #expect(stage.give(id, frame).code(of: id) == .protocolError)
    }

    @Test("a second HELLO ends the connection with PROTOCOL [hello.first]")
    func second() throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet()
        #expect(stage.give(greeting.id, stage.hello()).code(of: greeting.id) == .protocolError)
    }

    @Test("CLOSE may replace HELLO, and ignorable frames may come at any time [hello.first]")
    func instead() throws {
        var stage = try Stage()
        try stage.connect()
        let id = stage.accept()
        #expect(stage.give(id, .ignorable(FrameKind(rawValue: 0xCA), channel: 0, [1])).isEmpty)
        #expect(stage.give(id, .close(.busy, reason: "")) == [.close(id, .ok)])
    }

    @Test(
        "a plain connection with the outcome TLS, or the reverse, is refused with POLICY [hello.mode]",
        arguments: [true, false])
    func mode(_ isEncrypted: Bool) throws {
        var stage = try Stage(isEncrypted ? .optional : .none)
        try stage.connect()
        let key = Fingerprint([UInt8](repeating: 2, count: 32))
        let id = stage.accept(isEncrypted ? .plain : key.map { .encrypted($0, binding: Stage.binding) })
        #expect(stage.give(id, stage.hello()).code(of: id) == .policy)
    }

    @Test(
        "a certificate pinned for another peer is refused with POLICY, even an expected one [hello.key]"
    )
    func key() throws {
        var stage = try Stage()
        try stage.connect()
        let third = try Stage.local("third", high: 6, instance: 6, .optional)
        let open = try stage.machine.connectionData(
            for: nil, candidates: [try Stage.address(1)], token: stage.random.bytes(32), at: stage.now)
        #expect(open.recipient == nil)
        try stage.connect(Stage.issue(third, for: nil, [try Stage.address(3)], &stage.random, at: stage.now))
        let thirdKey = try #require(third.fingerprint)
        #expect(stage.machine.acceptedPins.map(\.fingerprint).contains(thirdKey))
        let id = stage.accept(.encrypted(thirdKey, binding: Stage.binding))
        #expect(stage.give(id, stage.hello()).code(of: id) == .policy)
    }

    @Test(
        "the pinned certificate is refused with POLICY if its key does not hash to the peer's keyed uid [uid.proof]",
        arguments: [true, false])
    func keyed(_ isProven: Bool) throws {
        let uid = try #require(UID.keyed([UInt8](repeating: 2, count: 16)))
        let other = try #require(UID.keyed([UInt8](repeating: 3, count: 16)))
        var stage = try Stage(peerUID: uid)
        try stage.connect()
        let key = try #require(stage.peer.fingerprint)
        #expect(stage.machine.acceptedPins == [CertificatePin(key, of: uid)])
        let id = stage.accept(.encrypted(key, keyedUID: isProven ? uid : other, binding: Stage.binding))
        #expect(stage.give(id, stage.hello()).code(of: id) == (isProven ? nil : .policy))
    }
}
