/// One connection between the tester and the subject, at the level of frames. By itself it only answers PING and
/// returns credit, as long as these are enabled; everything else a case does step by step.
final class TesterLink {
    /// Its name in the log.
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
    /// The limits of the tester's channels from the subject's CREDIT. Spec 9.4.
    private(set) var channelLimits: [UInt32: UInt64] = [:]
    /// The subject's last DGRAM. Spec 10.2.
    private(set) var lastOffer: DatagramOffer?

    // State of the handshake; see `TesterLink+Handshake.swift`.
    let linkParameters: LinkParameters
    var sentHello: [UInt8] = []
    var receivedHello: Hello?
    private(set) var receivedHelloBytes: [UInt8] = []

    /// * `sendsPreface`: whether a plain connection begins with its preface, as it must.
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

    /// What was received and not taken, in order.
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

    /// Takes and returns everything that was received and not taken.
    func takeAll() -> [Frame] {
        var frames: [Frame] = []
        while let frame = takeFirst() { frames.append(frame) }
        return frames
    }

    // MARK: Sending

    func send(_ frame: Frame) { send([frame]) }

    /// Sends several frames at once: in one TLS record if they fit.
    func send(_ frames: [Frame]) {
        for frame in frames {
            caseRun.log.add(.sent, name, frame)
            credit.spend(frame.cost)
        }
        connection.write(frames.flatMap(\.bytes))
    }

    /// Sends any bytes in place of frames.
    func send(raw bytes: [UInt8], _ what: String) {
        caseRun.log.add(.sent, "\(name): \(what), \(bytes.count) bytes  \(TrafficLog.excerpt(bytes))")
        connection.write(bytes)
    }

    /// Stops reading and answering, while the connection stays open for the subject.
    func abandon() {
        caseRun.log.add(.note, "\(name): silent from here on")
        connection.isReading = false
        answersPings = false
    }
}
