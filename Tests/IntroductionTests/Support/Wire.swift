import MultipeerCore
import MultipeerIntroduction
import MultipeerSecurity

/// One connection as the network sees it. End 0 dialled, end 1 accepted.
struct Wire {
    let nodes: [Int]
    var ids: [ConnectionID?] = [nil, nil]
    /// The key that the dialler accepts; nil for plain.
    let key: Fingerprint?
    let latency: Duration
    var isSecured = [false, false]
    var isOver = [false, false]
    var isDead = false
    var nextDelivery = [Moment(nanoseconds: 0), Moment(nanoseconds: 0)]

    init(dialler: Int, target: Int, key: Fingerprint?, latency: Duration) {
        nodes = [dialler, target]
        self.key = key
        self.latency = latency
    }
}
