/// Chapter 15: hosts that have many addresses of IPv6. The case has interfaces of its own.
enum PrefixCases {
    private static let addresses =
        (1...9).map { "addr add 2001:db8:0:\($0)::1/64 dev a1 nodad" }
        + (1...8).map { "addr add 2001:db8:0:1::1\($0)/64 dev a1 nodad" }

    static let all: [Case] = [
        Case(
            "LIM-15", "15.2", "addresses of IPv6 with the same first 64 bits count as one",
            stimulus:
                "idle connections from eight addresses of one network, and from one of each of seven others",
            expectation: "four of the first eight are kept, and all of the others; an honest peer is linked",
            rules: ["limit.prefix"],
            bugs: [.seen("counts-each-address", by: "of one network are kept")], seconds: 30,
            network: .pairs(1, addresses)
        ) { caseRun in
            let network: [UInt8] = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0]
            let host = [UInt8](repeating: 0, count: 7)
            let session = try caseRun.session(.init(listen: "[2001:db8:0:9::1]:0"))
            let tester = try caseRun.tester(beside: session, address: network + [9] + host + [1])
            let pair = try caseRun.introduce(session, tester)
            let crowd = try (1...8).map {
                try tester.dial(
                    pair.linkParameters, from: network + [1] + host + [0x10 + UInt8($0)], sendsPreface: false)
            }
            let others = try (2...8).map {
                try tester.dial(
                    pair.linkParameters, from: network + [UInt8($0)] + host + [1], sendsPreface: false)
            }
            caseRun.loop.wait(.seconds(2)) { crowd.count { $0.ending != nil } >= 4 }
            let kept = crowd.count { $0.ending == nil }
            try caseRun.require(kept <= 4, "\(kept) of one network are kept")
            try caseRun.require(kept == 4, "only \(kept) of one network are kept")
            try caseRun.require(others.allSatisfy { $0.ending == nil }, "a single one of a network is closed")
            let link = try tester.dial(pair.linkParameters)
            try link.complete(within: .seconds(5))
            try session.expect("connected", of: tester.endpoint.uid)
        }
    ]
}
