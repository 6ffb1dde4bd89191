/// Chapter 11: what a member that invents others can make a session do.
enum InventedMemberCases {
    static let all: [Case] = [
        Case(
            "MSH-30", "11.8", level: .mesh, "invented members take no place",
            stimulus: "T1, linked to S, reports seven members that do not exist; then T2 joins",
            expectation: "T2 is linked", rules: ["mesh.full", "mesh.counted", "hello.members"],
            bugs: [
                .seen("counts-invented", by: "FULL"),
                .seen("hello-lists-invented", by: "HELLO lists members"),
            ], orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(1)
            let link = try members[0].linked()
            let more = caseRun.strangers(7, of: session, like: members[0], listing: [members[0].endpoint])
            for entry in more { link.send(entry.frame) }
            link.send(members[0].entry([endpoint] + more.map(\.endpoint)).frame)
            caseRun.loop.wait(.seconds(1))
            let honest = try caseRun.member(session, "honest")
            let (_, blob) = try session.meshData()
            try session.connect(honest.data.bytes)
            let other = try honest.join(session, blob)
            let listed = other.receivedHello?.members ?? []
            try caseRun.require(
                !more.contains { listed.contains($0.endpoint.bytes) }, "HELLO lists members that do not count"
            )
            try link.expectAlive()
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-31", "15.2", level: .mesh, "a member does not make a session dial at will",
            stimulus: "T1 reports eight members, each with 16 addresses that end every connection at once",
            expectation: "fewer than 50 connections in 10 s", rules: ["mesh.introduced"],
            bugs: [.seen("dials-at-will", by: "connections in 10 s")], seconds: 40
        ) { caseRun in
            let sinks = try (0..<16).map { try TCPSocket.listening(on: [127, 0, 1, UInt8(1 + $0)]) }
            let (session, _) = try caseRun.reported(8, at: sinks)
            let end = ContinuousClock.now + .seconds(10)
            var count = 0
            while ContinuousClock.now < end {
                caseRun.loop.wait(.milliseconds(20))
                for sink in sinks { while sink.accept() != nil { count += 1 } }
            }
            try caseRun.require(count >= 8, "only \(count) connections came")
            try caseRun.require(count < 50, "\(count) connections in 10 s")
            _ = session
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-32", "15.2", level: .mesh, "an address that did not answer is not dialled again",
            stimulus: "T1 reports a member whose one address accepts connections and is silent",
            expectation: "one connection in 12 s", rules: ["mesh.introduced"],
            bugs: [.seen("dials-at-will", by: "connections")], seconds: 40
        ) { caseRun in
            let sink = try TCPSocket.listening(on: [127, 0, 1, 1])
            let (session, _) = try caseRun.reported(1, at: [sink])
            let end = ContinuousClock.now + .seconds(12)
            var taken: [TCPSocket] = []
            while ContinuousClock.now < end {
                caseRun.loop.wait(.milliseconds(20))
                while let socket = sink.accept() { taken.append(socket) }
            }
            try caseRun.require(taken.count == 1, "\(taken.count) connections came")
            _ = session
            caseRun.isSessionSpent = true
        },
    ]
}

extension CaseRun {
    /// Creates a session with a link to one member, which reports `count` more with the addresses of these sockets.
    fileprivate func reported(_ count: Int, at sockets: [TCPSocket]) throws -> (SubjectSession, TesterLink) {
        let (session, endpoint, members) = try mesh(1)
        let link = try members[0].linked()
        let more = (0..<count).map { _ in
            var data = members[0].data
            data.endpoint = Endpoint(uid: uid(beside: session), instance: random.bytes(8))
            data.token = random.bytes(32)
            data.candidates = sockets.enumerated().map { index, socket in
                Candidate(address: [127, 0, 1, UInt8(1 + index)], port: socket.localPort)
            }
            return MemberEntry(data.endpoint, 1, list: [members[0].endpoint], data: data.bytes)
        }
        for entry in more { link.send(entry.frame) }
        link.send(members[0].entry([endpoint] + more.map(\.endpoint)).frame)
        return (session, link)
    }
}
