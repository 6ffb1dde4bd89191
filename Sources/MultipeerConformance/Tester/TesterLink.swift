/// One connection between the tester and the subject, at the level of frames. It does nothing by itself but answer
/// PING and return credit, and that only as long as it is told to; everything else a case says step by step.
final class TesterLink {
    /// What the log calls it.
    let name: String
    let caseRun: CaseRun
    let role: LinkKey.Role
    /// What carries the frames.
    let connection: TesterConnection
    private var reader = FrameReader()
    private var arrived: [Frame] = []
    private var taken = 0

    /// Whether PING is answered at once.
    var answersPings = true
    /// Whether credit for messages is returned as they come.
    var isGranting = true
    var credit: MessageCredit
    /// What the subject's CREDIT says of the tester's channels. Spec 9.4.
    private(set) var channelLimits: [UInt32: UInt64] = [:]
    /// The subject's last DGRAM. Spec 10.2.
    private(set) var lastOffer: DatagramOffer?

    // What the handshake needs; `TesterLink+Handshake.swift`.
    let linkParameters: LinkParameters
    var sentHello: [UInt8] = []
    var receivedHello: Hello?
    private(set) var receivedHelloBytes: [UInt8] = []

    /// * `sendsPreface`: whether a plain connection begins as it must.
    init(
        _ socket: TCPSocket, _ role: LinkKey.Role, _ tls: TLSEnd?, _ linkParameters: LinkParameters,
        in caseRun: CaseRun,
        sendsPreface: Bool = true
    ) {
        self.role = role
        self.linkParameters = linkParameters
        self.caseRun = caseRun
        credit = MessageCredit(window: UInt64(linkParameters.limits.messageCredit))
        name = caseRun.nextLinkName()
        connection = TesterConnection(
            name, socket, isDialled: role == .initiator, tls, in: caseRun, sendsPreface: sendsPreface)
        connection.start { [self] in take($0) }
    }

    /// How the connection ended.
    var ending: TesterConnection.Ending? { connection.ending }

    // MARK: Arrivals

    private func take(_ bytes: [UInt8]) {
        reader.push(bytes)
        while let frame = reader.next() { arrive(frame) }
    }

    private func arrive(_ frame: Frame) {
        caseRun.log.add(.received, name, frame)
        if frame.kind == .ping, answersPings { send(.pong(frame.payload)) }
        if frame.kind == .credit, frame.channel == 0, let limit = frame.limit { credit.raise(limit) }
        credit.receive(frame.cost)
        if isGranting { grant() }
        if frame.kind == .credit, frame.channel != 0, let limit = frame.limit {
            channelLimits[frame.channel] = limit
        }
        if frame.kind == .datagrams { lastOffer = try? DatagramOffer(frame) }
        if frame.kind == .hello { receivedHelloBytes = frame.bytes }
        arrived.append(frame)
    }

    /// Returns credit, if it is worth a frame.
    func grant() {
        if let limit = credit.nextGrant() { send(.credit(limit)) }
    }

    /// What came and was not taken, in order.
    var waiting: ArraySlice<Frame> { arrived[taken...] }

    func takeFirst() -> Frame? {
        guard taken < arrived.count else { return nil }
        defer {
            taken += 1
            if taken > 1_000 {
                arrived.removeFirst(taken)
                taken = 0
            }
        }
        return arrived[taken]
    }

    /// Everything that came and was not taken.
    func takeAll() -> [Frame] {
        var frames: [Frame] = []
        while let frame = takeFirst() { frames.append(frame) }
        return frames
    }

    // MARK: Sending

    func send(_ frame: Frame) { send([frame]) }

    /// Several frames at once: in one TLS record if they fit.
    func send(_ frames: [Frame]) {
        for frame in frames {
            caseRun.log.add(.sent, name, frame)
            credit.spend(frame.cost)
        }
        connection.write(frames.flatMap(\.bytes))
    }

    /// Any bytes where frames should be.
    func send(raw bytes: [UInt8], _ what: String) {
        caseRun.log.add(.sent, "\(name): \(what), \(bytes.count) bytes  \(TrafficLog.excerpt(bytes))")
        connection.write(bytes)
    }

    /// The connection stays open as the subject sees it, and nobody is there any more.
    func abandon() {
        caseRun.log.add(.note, "\(name): silent from here on")
        connection.isReading = false
        answersPings = false
    }
}
