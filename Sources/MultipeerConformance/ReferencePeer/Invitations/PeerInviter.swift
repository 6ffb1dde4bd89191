/// An outgoing invitation. Spec 12.8, machine `inviter`.
final class PeerInviter: PeerConnection.Owner {
    private unowned let invitations: PeerInvitations
    /// The invited peer; nil for the one that listens at the address.
    private(set) var uid: [UInt8]?
    /// Where it may be, in the order in which they are dialled.
    private var places: [Candidate]
    private var nextPlace = 0
    private var lastDial = Instant.now
    /// The connections on which TLS does not stand yet.
    private var dialled: [(connection: PeerConnection, place: Candidate)] = []
    private let code: SpokenCode?
    private var exchange: CodeExchange?
    private var confirmations: CodeExchange.Confirmations?
    private let context: [UInt8]?
    private let seconds: Double
    private let deadline: Instant
    private let id: [UInt8]
    /// The one that carries the invitation.
    private var connection: PeerConnection?
    private var usedPlace: Candidate?
    private var isSent = false
    private var isAgreed = false
    private var retry: Instant?
    private var busy = 0
    private var losses = 0
    private(set) var isOver = false
    private var hasResult = false

    init(
        _ invitations: PeerInvitations, _ uid: [UInt8]?, _ places: [Candidate], _ code: SpokenCode?,
        _ context: [UInt8]?, _ seconds: Double
    ) {
        self.invitations = invitations
        self.uid = uid
        self.places = places
        self.code = code
        self.context = context
        self.seconds = seconds
        deadline = .now + .milliseconds(Int(seconds * 1_000))
        id = invitations.session.peer.randomBytes(16)
        dial()
    }

    private var session: PeerSession { invitations.session }
    private var bug: Bug? { session.bug }

    private func dial() {
        retry = nil
        isSent = false
        exchange = nil
        confirmations = nil
        connection = nil
        nextPlace = 0
        dialNext()
    }

    private func dialNext() {
        let place = places[nextPlace]
        nextPlace += 1
        lastDial = .now
        guard let socket = try? TCPSocket.dialling(place) else { return result(.unknownPeer) }
        let made = invitations.connection(socket, .initiator, place.address, to: uid)
        made.owner = self
        dialled.append((made, place))
    }

    /// Uses the first connection on which TLS stands. Spec 12.8, `invite.connections`.
    func ready(_ connection: PeerConnection) {
        guard self.connection == nil else { return }
        self.connection = connection
        usedPlace = dialled.first { $0.connection === connection }?.place
        dialled.removeAll { $0.connection === connection }
        if bug != .inviteKeepsConnections {
            for other in dialled { other.connection.discard() }
            dialled = []
        }
        guard let code else { return invite(connection) }
        let exchange = invitations.exchange(code, isInviter: true)
        self.exchange = exchange
        connection.send(Frame(.share, exchange.share))
    }

    private func invite(_ connection: PeerConnection) {
        isSent = true
        let left = bug == .inviteWholeTimeout ? seconds : (deadline - .now) / .seconds(1)
        let timeout = UInt32(max(1, left.rounded(.up)))
        let entries = InvitationFrames.invite(
            id: id, from: session.endpoint.uid, name: session.name,
            to: uid ?? [UInt8](repeating: 0, count: 16), timeout: timeout, context: context)
        connection.send(Frame(.invite, entries.bytes))
        if bug == .inviteCompletesEarly {
            let mine = session.issued.data(for: uid, isMesh: false).bytes
            connection.send(Frame(.complete, InvitationFrames.complete(id: id, data: mine).bytes))
        }
    }

    func admit(_ header: FrameHeader, on connection: PeerConnection) throws(ProtocolError) -> Bool {
        try demand(header.length <= 2_048, "\(header.kind) of \(header.length) bytes")
        guard try FrameRules(bug: bug).isKnown(header) else { return false }
        try demand(
            [.invite, .answer, .complete, .close, .share, .confirmation].contains(header.kind),
            "\(header.kind) on an invitation")
        try FrameRules(bug: bug).check(header)
        return true
    }

    func take(_ frame: Frame, from connection: PeerConnection) throws(ProtocolError) {
        switch frame.kind {
        case .share: return try takeShare(frame.payload, from: connection)
        case .confirmation: return try takeConfirmation(frame.payload, from: connection)
        default: try demand(frame.kind == .answer && isSent && !isAgreed, "\(frame.kind) out of order")
        }
        typealias Field = InvitationFrames.Field
        let entries = try EntryReader().read(frame.payload, known: [1, 2, 3])
        try demand(
            try entries.demanded(Field.id, "ID", 16) == id || bug == .inviteAnyAnswer,
            "ANSWER to another invitation")
        let code = CloseCode(rawValue: UInt16(try entries.demanded(Field.code, "CODE", 2).number))
        let blob = try entries.possible(Field.data, "DATA", 24...1_024)
        try demand((blob != nil) == (code == .ok) || bug == .inviteAnyAnswer, "DATA does not fit the code")
        guard let blob else { return refused(code) }
        let invited = try session.checkInvited(blob, from: uid)
        let isProven = connection.tls?.peerLeaf.map { KeyedUID.fits(invited, $0) } ?? false
        try demand(isProven || bug == .inviteAddressUnproven || uid != nil, .policy, "the key of another uid")
        uid = invited
        isAgreed = true
        let mine = session.issued.data(for: uid, isMesh: false).bytes
        connection.send(Frame(.complete, InvitationFrames.complete(id: id, data: mine).bytes))
        connection.finish()
        do throws(ProtocolError) {
            try session.connect(blob, isInvited: true)
            result(.ok)
        } catch {
            result(error.code)
        }
    }

    private func takeShare(_ payload: [UInt8], from connection: PeerConnection) throws(ProtocolError) {
        guard let exchange, confirmations == nil, payload.prefix(2) == exchange.share.prefix(2) else {
            throw .broken("SHARE out of order")
        }
        let both = exchange.confirmations(with: payload, binding: invitations.binding(connection))
        guard let both else { throw .broken("SHARE without a point") }
        confirmations = both
        connection.send(Frame(.confirmation, both.own))
        if bug == .codeInvitesEarly { invite(connection) }
    }

    private func takeConfirmation(_ payload: [UInt8], from connection: PeerConnection) throws(ProtocolError) {
        guard let confirmations, !isSent || bug == .codeInvitesEarly else {
            throw .broken("CONFIRMATION out of order")
        }
        guard payload == confirmations.other || bug == .codeAnyConfirmation else {
            result(.wrongCode)
            return connection.close(.wrongCode)
        }
        if !isSent { invite(connection) }
    }

    private func refused(_ code: CloseCode) {
        connection?.finish()
        if code == .unknownPeer, places.count > 1, bug != .inviteOneAddress {
            places.removeAll { $0 == usedPlace }
            return dial()
        }
        guard code == .busy, bug != .inviteGivesUpBusy else { return result(code) }
        rest()
    }

    private func rest() {
        let pause = min(4_000, 250 << min(busy, 4))
        busy += 1
        retry = .now + .milliseconds(Int.random(in: pause / 2...pause * 3 / 2))
    }

    private func result(_ code: CloseCode) {
        guard !hasResult else { return }
        hasResult = true
        var fields: [String: JSONValue] = ["result": .string(code.description)]
        fields["peer"] = uid.map { .string($0.hex) }
        session.application.tell("invite-result", fields)
    }

    func ended(_ connection: PeerConnection, _ ending: PeerConnection.Ending) {
        guard !hasResult, retry == nil else { return }
        if connection !== self.connection {
            dialled.removeAll { $0.connection === connection }
            if self.connection != nil || !dialled.isEmpty { return }
            if nextPlace < places.count { return dialNext() }
        }
        if case .closed(.wrongCode) = ending {
            if bug == .codeRetriesMismatch { return rest() }
            if bug == .codeWrongIsLost { return result(.unknownPeer) }
        }
        if confirmations != nil, !isSent, bug != .codeGuessAgain { return result(.wrongCode) }
        switch ending {
        case .closed(let code): if code == .busy { rest() } else { result(code) }
        case .refused(let refusal): result(refusal.code)
        case .lost:
            losses += 1
            if losses > 5, bug != .inviteNeverGivesUp { result(.unknownPeer) } else { rest() }
        }
    }

    func drop() {
        hasResult = true
        for one in dialled.map(\.connection) + [connection].compactMap(\.self) { one.discard() }
    }

    func tick(_ now: Instant) {
        for one in dialled.map(\.connection) + [connection].compactMap(\.self) { one.tick(now) }
        let isLate = lastDial + .milliseconds(250) <= now && nextPlace < places.count
        if isLate, connection == nil, retry == nil, !hasResult { dialNext() }
        if let retry, now >= retry, !hasResult { dial() }
        if !hasResult, now >= deadline, bug != .inviteAnswersLate {
            result(.timeout)
            for one in dialled { one.connection.discard() }
            connection?.close(.cancelled)
        }
        isOver = hasResult && (connection?.stage ?? .ended) == .ended
    }
}
