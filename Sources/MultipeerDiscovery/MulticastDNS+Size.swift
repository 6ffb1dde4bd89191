/// The sizes of an engine's tables, which tests compare with the limits. Spec 12.5.
extension MulticastDNS {
    /// The number of cached records.
    package var recordCount: Int { querier.recordCount }
    /// The approximate size of those records in bytes.
    package var byteCount: Int { querier.byteCount }
    /// The number of waiting answers, and of those remembered so that they are not sent too often.
    package var answerCount: Int { responder.answerCount }
}

extension Responder {
    fileprivate var answerCount: Int {
        interfaces.values.flatMap(\.schedulers.values).reduce(goodbyes.count) { $0 + $1.count }
    }
}
