/// Chapter 6.
extension Suite {
    static let linkCases: [Case] = [
        Case(
            "LINK-01", "6.1", "a peer that dials is linked", stimulus: "T dials S and does everything right",
            expectation: "the link stands, and S tells its application connecting, then connected",
            rules: ["link.dialler", "select.answer"], bugs: ["never-selected"], orders: Order.allCases
        ) { trial in
            let pair = try trial.pair()
            let link = try pair.tester.dial(pair.terms)
            try link.complete()
            try pair.session.expect("connected", of: pair.tester.endpoint.uid)
            try link.expectAlive()
        }
    ]
}
