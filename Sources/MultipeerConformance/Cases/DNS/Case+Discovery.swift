/// Cases of multicast DNS: each has a loopback interface of its own, and ends what it has started.
extension Case {
    /// Creates a case about a service that the subject advertises, and withdraws at the end.
    ///
    /// * `isSettled`: whether the announcements are over before the case begins.
    static func advertising(
        _ id: String, _ chapter: String, _ title: String, stimulus: String, expectation: String,
        rules: [String], bugs: [Fault], seconds: Int = 20, code: String? = nil, isSettled: Bool = false,
        _ body: @escaping @Sendable (CaseRun, DNSTester, AdvertisedService) throws -> Void
    ) -> Case {
        Case(
            id, chapter, level: .discovery, title, stimulus: stimulus, expectation: expectation,
            rules: rules, bugs: bugs, seconds: seconds, network: .loopback
        ) { caseRun in
            let dns = try DNSTester(caseRun)
            let service = try caseRun.advertised(dns, code: code)
            if isSettled { dns.settle() }
            try body(caseRun, dns, service)
            try service.session.call("unadvertise")
        }
    }

    /// Creates a case about a session of the subject that browses until the end.
    static func browsing(
        _ id: String, _ chapter: String, _ title: String, stimulus: String, expectation: String,
        rules: [String], bugs: [Fault], seconds: Int = 20,
        _ body: @escaping @Sendable (CaseRun, DNSTester, SubjectSession) throws -> Void
    ) -> Case {
        Case(
            id, chapter, level: .discovery, title, stimulus: stimulus, expectation: expectation,
            rules: rules, bugs: bugs, seconds: seconds, network: .loopback
        ) { caseRun in
            let dns = try DNSTester(caseRun)
            let session = try caseRun.session()
            try session.call("browse", ["type": "conform", "discovery": "multicast"])
            try body(caseRun, dns, session)
            try session.call("unbrowse")
        }
    }
}

extension DNSTester {
    /// Waits until the announcements are over, and what was received is forgotten: answers come a second after them.
    fileprivate func settle() {
        caseRun.loop.wait(.milliseconds(4_200))
        forget()
    }
}

extension NetworkNamespace {
    /// One with a loopback interface alone, where no other program uses multicast DNS.
    static let loopback = NetworkNamespace([])
}
