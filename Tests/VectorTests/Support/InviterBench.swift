import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import Testing

/// Ann invites bob; the test plays him and the network.
struct InviterBench: InvitationBench {
    private let cast: InvitationFixture
    private var inviter: Inviter
    private let connection = ConnectionID(rawValue: 1)
    private let id = [UInt8](repeating: 7, count: Invite.idByteCount)

    init() throws {
        cast = try InvitationFixture()
        let candidate = try #require(Candidate(address: [127, 0, 0, 1], port: 49_152))
        inviter = try Inviter(
            cast.names.bob, at: [candidate], as: cast.names.ann, context: nil, within: .seconds(30), id: id,
            seed: 1, at: .start)
        _ = inviter.takeActions()
    }

    var state: String { inviter.phase.word }

    mutating func bring(to state: String) throws {
        guard state != "connecting" else { return }
        try apply("secured")
        guard state != "asking" else { return }
        try apply("yes")
        guard state != "agreeing" else { return }
        try apply("data")
    }

    @discardableResult
    mutating func apply(_ event: String) throws -> RecordedActions {
        let now = Moment.after(10)
        switch event {
        case "secured": inviter.secured(connection, at: now)
        case "unreachable": inviter.lost(connection, .unreachable("refused"), at: now)
        case "lost":
            inviter.connected(connection, at: now)
            inviter.lost(connection, .lost, at: now)
        case "yes": receive(answer(.ok, cast.bobsData), at: now)
        case "yesWrong": receive(answer(.ok, nil), at: now)
        case "no": receive(answer(.declined, nil), at: now)
        case "busy": receive(answer(.busy, nil), at: now)
        case "elsewhere": receive(answer(.unknownPeer, nil), at: now)
        case "close": receive(.close(.cancelled, reason: ""), at: now)
        case "otherFrame": receive(.complete(Complete(id: id, connectionData: cast.bobsData.bytes)), at: now)
        case "data": inviter.supply(cast.annsData, at: now)
        case "dataUnfit":
            if state == "agreeing" { try agreePlainly() }
            inviter.supply(cast.annsData, at: now)
        case "noData": inviter.failed(.system("no address"), at: now)
        case "cancel": inviter.cancel(at: now)
        default: inviter.advance(to: .after(30_010))
        }
        return try deeds()
    }

    /// Gets to the same state, but bob wants no encryption.
    private mutating func agreePlainly() throws {
        self = try InviterBench()
        try apply("secured")
        receive(answer(.ok, cast.bobsPlainData), at: .after(10))
        _ = inviter.takeActions()
    }

    private func answer(_ code: CloseCode, _ data: ConnectionData?) -> Frame {
        .answer(Answer(id: id, code: code, connectionData: data?.bytes))
    }

    private mutating func receive(_ frame: Frame, at now: Moment) {
        let bytes = frame.bytes
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        inviter.receive(connection, header, Array(bytes.dropFirst(FrameHeader.byteCount)).span, at: now)
    }

    private mutating func deeds() throws -> RecordedActions {
        var deeds = RecordedActions()
        for action in inviter.takeActions() {
            switch action {
            case .dial: deeds.names.append("dial")
            case .send(_, let frame): try deeds.note(frame: frame)
            case .close(_, let code): deeds.note(closing: code)
            case .tell(.makeData): deeds.names.append("makeData")
            case .tell(.end(.success(let data))):
                deeds.names.append(data == cast.bobsData ? "tellAgreed" : "tell of other data")
            case .tell(.end(.failure(let fault))): deeds.tell(fault)
            }
        }
        return deeds
    }
}
