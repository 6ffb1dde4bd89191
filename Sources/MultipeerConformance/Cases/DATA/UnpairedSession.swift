/// A session of the subject and a tester that hold no data of each other, to test which data of the tester is refused.
struct UnpairedSession {
    let session: SubjectSession
    let tester: Tester

    init(_ session: SubjectSession, _ tester: Tester) {
        self.session = session
        self.tester = tester
    }

    /// Creates a session and a tester.
    init(_ caseRun: CaseRun) throws {
        session = try caseRun.session()
        tester = try caseRun.tester(beside: session)
    }

    /// Issues data that the tester may hold, without which all data is refused. Spec 4.2, `data.issued`.
    private func issue() throws { _ = try session.data(for: tester.endpoint.uid) }

    /// Checks that valid data with changed fields is refused with this code, and that no peer is dialled.
    func refuse(_ code: CloseCode, _ what: String, _ change: (inout ConnectionData) -> Void) throws {
        var data = tester.data(for: session.uid)
        change(&data)
        try refuse(code, what, data.bytes)
    }

    /// Checks that valid data with changed entries is refused with this code, and that no peer is dialled.
    func refuse(_ code: CloseCode, _ what: String, _ change: ([TLVEntry]) -> [TLVEntry]) throws {
        let entries = change(tester.data(for: session.uid).entries)
        try refuse(code, what, ConnectionData.bytes(entries))
    }

    /// Checks that data is refused with this code, and that no peer is dialled.
    func refuse(_ code: CloseCode, _ what: String, _ bytes: [UInt8]) throws {
        try issue()
        let answer = try session.refusal(of: bytes, from: tester.endpoint.uid)
        let caseRun = tester.caseRun
        try caseRun.require(answer != nil, "\(what): the data is taken, \(code) expected")
        try caseRun.require(
            answer == code, "\(what): \(answer.map(String.init(describing:)) ?? ""), not \(code)")
        try caseRun.require(tester.calls.isEmpty, "\(what): the subject dials")
    }

    /// Checks that each of many is refused, with all requests sent at once.
    func refuse(_ many: [([UInt8], CloseCode)]) throws {
        try issue()
        let posts = many.map { bytes, code in
            (session.post("connect", ["data": .string(bytes.hex)]), bytes, code)
        }
        for (post, bytes, code) in posts {
            guard let answer = session.subject.answer(post, within: .seconds(15)) else {
                throw CaseFailure("'connect' is not answered for \(bytes.hex)")
            }
            let name = answer["error"]?.text
            guard name == code.description else {
                throw CaseFailure("\(name ?? "taken"), not \(code), for \(bytes.hex)")
            }
        }
    }
}

extension ConnectionData {
    /// Reads connection data of the subject.
    init(ofSubject bytes: [UInt8]) throws {
        do throws(Malformed) { try self.init(bytes) } catch {
            throw CaseFailure("the subject's connection data: \(error)")
        }
    }
}
