import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

/// Which of a session's data its HELLO names, dial by dial.
struct Naming: VectorBody {
    static let type = "naming"
    /// For whom the session issued data, the latest last: each name is the recipient and a number.
    let issued: [String]
    let isMember: Bool
    let addresses: Int
    let steps: [Step]

    struct Step: Decodable {
        let address: Int
        let names: String
        /// Whether a pause precedes the dial.
        let waits: Bool
        /// With which the peer answers HELLO.
        let code: String
    }
}

@Suite("6.1 Vectors of data that HELLO names", .computing)
struct NamingVectorTests {
    @Test(
        "after UNKNOWN_PEER, HELLO names the next of the data that the peer may hold [link.unknown-data]",
        arguments: try VectorFiles.all(Naming.self))
    func naming(_ vector: Vector<Naming>) throws {
        var dialler = try Dialler(vector.body)
        for (place, step) in vector.body.steps.enumerated() { try dialler.perform(step, place) }
    }
}

/// A session that dials a peer which knows none of its data.
private struct Dialler {
    private var session: LinkEstablishment
    private var names: [[UInt8]: String] = [:]
    private var now = Moment.start

    init(_ body: Naming) throws {
        let (low, high) = (UID(high: 1, low: 1), UID(high: 2, low: 2))
        session = LinkEstablishment(try stranger(low), seed: 1)
        for (place, name) in body.issued.enumerated() {
            let address = Candidate(address: [192, 0, 2, UInt8(100 + place)], port: 49_152)
            let data = try session.connectionData(
                for: name.hasPrefix("peer") ? high : nil, candidates: [try #require(address)],
                flags: name.hasPrefix("mesh") ? .mesh : [], token: [UInt8](repeating: 7, count: 32), at: now)
            names[data.reference] = name
        }
        var peer = LinkEstablishment(try stranger(high), seed: 2)
        let theirs = try peer.connectionData(
            for: body.isMember ? nil : low,
            candidates: (0..<body.addresses).compactMap { Self.address($0) },
            flags: body.isMember ? .mesh : [], token: [UInt8](repeating: 8, count: 32), at: now)
        #expect(try session.connect(with: theirs, zones: [], at: now))
    }

    private static func address(_ place: Int) -> Candidate? {
        Candidate(address: [192, 0, 2, UInt8(1 + place)], port: 49_152)
    }

    mutating func perform(_ step: Naming.Step, _ place: Int) throws {
        var dial = nextDial()
        #expect((dial == nil) == step.waits, "dial \(place)")
        if dial == nil {
            now = try #require(session.deadline)
            session.advance(to: now)
            dial = nextDial()
        }
        let (id, candidate) = try #require(dial)
        #expect(candidate == Self.address(step.address), "dial \(place)")
        session.secured(id, .plain, nonce: [UInt8](repeating: 9, count: 32), at: now)
        for case .send(id, let frame) in session.takeActions() {
            let hello = try Hello(frame.span.extracting(FrameHeader.byteCount..<frame.count))
            #expect(names[hello.myDataReference] == step.names, "dial \(place)")
        }
        let code = try #require([CloseCode.unknownPeer, .busy].first { $0.name == step.code })
        let close = Frame.close(code, reason: "").bytes
        let header = FrameHeader(close.span.extracting(0..<FrameHeader.byteCount))
        session.receive(id, header, Array(close.dropFirst(FrameHeader.byteCount)).span, at: now)
    }

    private mutating func nextDial() -> (ConnectionID, Candidate)? {
        for case .dial(let id, let candidate, _) in session.takeActions() { return (id, candidate) }
        return nil
    }
}
