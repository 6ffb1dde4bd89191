/// A session of the subject and a tester that hold nothing of each other: what data of the tester is refused.
struct Strangers {
    let session: SubjectSession
    let tester: Tester

    init(_ session: SubjectSession, _ tester: Tester) {
        self.session = session
        self.tester = tester
    }

    /// A session and a tester of their own.
    init(_ trial: Trial) throws {
        session = try trial.session()
        tester = try trial.tester(beside: session)
    }

    /// Good data with other fields is refused with this code, and nobody is dialled.
    func refuse(_ code: Code, _ what: String, _ change: (inout ConnectionData) -> Void) throws {
        var data = tester.data(for: session.uid)
        change(&data)
        try refuse(code, what, data.bytes)
    }

    /// Good data with other entries is refused with this code, and nobody is dialled.
    func refuse(_ code: Code, _ what: String, _ change: ([Entry]) -> [Entry]) throws {
        let entries = change(tester.data(for: session.uid).entries)
        try refuse(code, what, ConnectionData.bytes(entries))
    }

    /// Data is refused with this code, and nobody is dialled.
    func refuse(_ code: Code, _ what: String, _ bytes: [UInt8]) throws {
        let answer = try session.refusal(of: bytes, from: tester.endpoint.uid)
        let trial = tester.trial
        try trial.require(answer != nil, "\(what): the data is taken, \(code) expected")
        try trial.require(
            answer == code, "\(what): \(answer.map(String.init(describing:)) ?? ""), not \(code)")
        try trial.require(tester.calls.isEmpty, "\(what): the subject dials")
    }

    /// Each of many is refused, asked for all at once.
    func refuse(_ many: [([UInt8], Code)]) throws {
        let posts = many.map { bytes, code in
            (session.post("connect", ["data": .string(bytes.hex)]), bytes, code)
        }
        for (post, bytes, code) in posts {
            guard let answer = session.subject.answer(post, within: .seconds(15)) else {
                throw Failure("'connect' is not answered for \(bytes.hex)")
            }
            let name = answer["error"]?.text
            guard name == code.description else {
                throw Failure("\(name ?? "taken"), not \(code), for \(bytes.hex)")
            }
        }
    }
}

extension ConnectionData {
    /// Reads connection data of the subject.
    init(ofSubject bytes: [UInt8]) throws {
        do throws(Malformed) { try self.init(bytes) } catch {
            throw Failure("the subject's connection data: \(error)")
        }
    }
}
