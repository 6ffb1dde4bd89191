/// Data that must be refused, and nobody is dialled.
extension Trial {
    /// Reads connection data of the subject.
    func read(_ bytes: [UInt8]) throws -> ConnectionData {
        do throws(Malformed) { return try ConnectionData(bytes) } catch {
            throw Failure("the subject's connection data: \(error)")
        }
    }

    /// A session and a tester that hold nothing of each other.
    func strangers(_ preference: Preference = .none) throws -> (SubjectSession, Tester) {
        let session = try session(.init(preference: preference))
        return (session, try tester(beside: session, preference: preference))
    }

    /// Good data with other fields is refused with this code, and nobody is dialled.
    func refuses(_ code: Code, _ what: String, _ change: (inout ConnectionData) -> Void) throws {
        let (session, tester) = try kept ?? strangers()
        kept = (session, tester)
        var data = tester.data(for: session.uid)
        change(&data)
        try refuses(code, what, data.bytes, session, tester)
    }

    /// Good data with other entries is refused with this code, and nobody is dialled.
    func refuses(_ code: Code, _ what: String, _ change: ([Entry]) -> [Entry]) throws {
        let (session, tester) = try kept ?? strangers()
        kept = (session, tester)
        let entries = change(tester.data(for: session.uid).entries)
        try refuses(code, what, ConnectionData.bytes(entries), session, tester)
    }

    func refuses(
        _ code: Code, _ what: String, _ bytes: [UInt8], _ session: SubjectSession, _ tester: Tester
    ) throws {
        let answer = try session.refusal(of: bytes, from: tester.endpoint.uid)
        try require(answer != nil, "\(what): the data is taken, \(code) expected")
        try require(answer == code, "\(what): \(answer.map(String.init(describing:)) ?? ""), not \(code)")
        try require(tester.calls.isEmpty, "\(what): the subject dials")
    }

    /// Each of many is refused, asked for all at once.
    func refuse(_ many: [([UInt8], Code)], by session: SubjectSession) throws {
        let posts = many.map { bytes, code in
            (session.post("connect", ["data": .string(bytes.hex)]), bytes, code)
        }
        for (post, bytes, code) in posts {
            guard let answer = session.subject.answer(post, within: .seconds(15)) else {
                throw Failure("'connect' is not answered for \(bytes.hex)")
            }
            let name = answer["error"]?.text
            try require(name == code.description, "\(name ?? "taken"), not \(code), for \(bytes.hex)")
        }
    }
}
