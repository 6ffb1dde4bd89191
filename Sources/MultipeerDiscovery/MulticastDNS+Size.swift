/// How much an engine keeps, whatever it hears: what tests compare with the limits. Spec 12.5.
extension MulticastDNS {
    /// Records of others.
    package var recordCount: Int { querier.recordCount }
    /// About how many bytes those take.
    package var byteCount: Int { querier.byteCount }
    /// Answers that wait, and those that are remembered so that they are not given too often.
    package var answerCount: Int { responder.answerCount }
}

extension Responder {
    fileprivate var answerCount: Int {
        interfaces.values.flatMap(\.schedulers.values).reduce(goodbyes.count) { $0 + $1.count }
    }
}
