import MultipeerCore
import MultipeerFraming
import MultipeerHandshake

/// An invitee, a network that any peer may use, and an application that answers arbitrarily. What the machine promises
/// is counted here, independently of it.
struct InviteeStage {
    private struct Line {
        let origin: [UInt8]
        var isSecured = false
        var answers = 0
    }

    private struct Question {
        let inviter: UID
        let deadline: Moment
        var isAgreed = false
    }

    private let cast: InvitationFixture
    private var invitee: Invitee
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var lines: [ConnectionID: Line] = [:]
    private var questions: [QuestionID: Question] = [:]
    private var over: Set<QuestionID> = []
    /// The question that the application has just accepted: until then no data is sent.
    private var consented: QuestionID?
    private var isStopped = false

    init(_ cast: InvitationFixture) {
        self.cast = cast
        invitee = Invitee(cast.peers[0], seed: 1)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        switch input.byte() & 15 {
        case 0, 1: accept(input.byte())
        case 2, 3: secure(&input)
        case 4, 5, 6, 7: invite(&input)
        case 8: complete(&input)
        case 9: receive(input.anyFrame(), on: line(&input))
        case 10: end(&input)
        case 11: try say(true, &input)
        case 12: try say(false, &input)
        case 13: pass(now + input.duration())
        case 14: pass(max(now, invitee.deadline ?? now))
        default: rare(&input)
        }
        try judge()
    }

    /// Checks that everything ends by itself when nothing more happens.
    mutating func settle() throws(BrokenPromise) {
        for _ in 0..<64 {
            guard let deadline = invitee.deadline else { break }
            pass(deadline)
            try judge()
        }
        try promise(invitee.deadline == nil, "there is a deadline after the end")
        try promise(questions.isEmpty, "a question has no end")
        try promise(lines.isEmpty, "a connection has no end")
    }
}

// MARK: what happens

extension InviteeStage {
    private func line(_ input: inout InputReader) -> ConnectionID? {
        let (ids, choice) = (lines.keys.sorted(), Int(input.byte()))
        return ids.isEmpty ? nil : ids[ids.count - 1 - choice % ids.count]
    }

    private mutating func accept(_ byte: UInt8) {
        let origin: [UInt8] = [192, 0, 2, byte & 31]
        if let id = invitee.accepted(from: origin, at: now) { lines[id] = Line(origin: origin) }
    }

    private mutating func secure(_ input: inout InputReader) {
        guard let id = line(&input) else { return }
        lines[id]?.isSecured = true
        invitee.secured(id, at: now)
    }

    private mutating func invite(_ input: inout InputReader) {
        let (choice, shape) = (input.byte(), input.byte())
        // Mostly all at once: a connection, TLS and INVITE.
        if shape & 0xC0 != 0 {
            accept(choice >> 3)
            if let id = lines.keys.max() {
                lines[id]?.isSecured = true
                invitee.secured(id, at: now)
            }
        }
        let from = cast.peers[Int(choice) % cast.peers.count]
        let timeouts: [UInt32] = [1, 30, 600, 30, 30, 0, 601, .max]
        let recipient = shape & 0x38 == 0 ? cast.peers[1] : cast.peers[0]
        let invite = Invite(
            id: [UInt8](repeating: shape & 3, count: 16), inviter: from.uid, inviterName: from.displayName,
            recipient: recipient.uid, timeout: timeouts[Int(shape & 7)])
        let target = shape & 0xC0 != 0 ? lines.keys.max() : line(&input)
        receive(InvitationFixture.frame(.invite(invite)), on: target)
    }

    private mutating func complete(_ input: inout InputReader) {
        let (choice, shape) = (input.byte(), input.byte())
        let blobs = cast.blobs[Int(choice) % cast.blobs.count]
        let data = blobs[Int(shape >> 2) % blobs.count]
        let complete = Complete(
            id: [UInt8](repeating: shape & 3, count: 16), connectionData: data.bytes)
        receive(InvitationFixture.frame(.complete(complete)), on: line(&input))
    }

    private mutating func receive(_ frame: [UInt8], on id: ConnectionID?) {
        // Before TLS is established there are no frames.
        guard let id, lines[id]?.isSecured == true else { return }
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        invitee.receive(id, header, Array(frame.dropFirst(FrameHeader.byteCount)).span, at: now)
    }

    private mutating func end(_ input: inout InputReader) {
        guard let id = line(&input) else { return }
        let choice = input.byte()
        if choice & 1 == 0 {
            lines[id] = nil
            invitee.lost(id, .lost, at: now)
        } else {
            let code = CloseCode(rawValue: UInt16(choice >> 1))
            receive(InvitationFixture.frame(.close(code, reason: "")), on: id)
        }
    }

    private mutating func rare(_ input: inout InputReader) {
        let choice = input.byte()
        switch choice & 7 {
        case 0 where choice == 0xF8:
            invitee.stop(at: now)
            isStopped = true
        case 1: if let id = line(&input) { invitee.violated(id, .protocolError, at: now) }
        case 2: invitee.cancel(QuestionID(rawValue: UInt64(choice >> 3)), at: now)
        default: accept(choice)
        }
    }

    private mutating func pass(_ moment: Moment) {
        now = moment
        invitee.advance(to: now)
    }

    /// Lets the application answer a question: one that is open, was open, or never existed.
    private mutating func say(_ isYes: Bool, _ input: inout InputReader) throws(BrokenPromise) {
        let choice = input.byte()
        let open = questions.keys.sorted()
        let any = QuestionID(rawValue: UInt64(choice))
        let id = open.isEmpty || choice & 0x80 != 0 ? any : open[Int(choice) % open.count]
        let question = questions[id]
        let isDue = question.map { !$0.isAgreed && now < $0.deadline } ?? false
        var isTaken = true
        do throws(InvitationFault) {
            if isYes {
                consented = id
                let inviter = question?.inviter ?? cast.peers[1].uid
                guard
                    let data = try? MeshFixture.data(
                        of: Endpoint(uid: cast.peers[0].uid, instance: 1), flags: [], for: inviter)
                else { return }
                try invitee.accept(id, with: data, at: now)
                questions[id]?.isAgreed = true
            } else {
                try invitee.refuse(id, .declined, at: now)
            }
        } catch {
            isTaken = false
        }
        try promise(isTaken == isDue, "an answer was taken that is not due, or one that is was not")
    }
}

// MARK: what follows

extension InviteeStage {
    private mutating func judge() throws(BrokenPromise) {
        for action in invitee.takeActions() {
            switch action {
            case .dial: try promise(false, "the invitee dials")
            case .send(let id, let frame): try judge(frame, on: id)
            case .close(let id, _):
                try promise(lines.removeValue(forKey: id) != nil, "a connection is closed twice")
            case .tell(.ask(let asked)): try judge(asked)
            case .tell(.contested(let id)):
                try promise(questions[id] != nil, "a question that is over is contested")
            case .tell(.end(let id, let ending)): try judge(ending, of: id)
            case .tell(.code): throw BrokenPromise(description: "an event of a code, and there is none")
            }
        }
        consented = nil
        try promise(invitee.takeActions().isEmpty, "actions are taken twice")
        try judgeLimits()
        try promise(invitee.deadline.map { now < $0 } ?? true, "the deadline does not move on")
    }

    private mutating func judge(_ bytes: [UInt8], on id: ConnectionID) throws(BrokenPromise) {
        let header = FrameHeader(bytes.span.extracting(0..<FrameHeader.byteCount))
        guard let frame = try? Frame(header, Array(bytes.dropFirst(FrameHeader.byteCount)).span),
            case .answer(let answer) = frame
        else { throw BrokenPromise(description: "something other than ANSWER was sent") }
        try promise(lines[id]?.isSecured == true, "a frame was sent without a connection")
        lines[id]?.answers += 1
        try promise(lines[id]?.answers == 1, "two answers to one INVITE")
        try promise((answer.code == .ok) == (answer.connectionData != nil), "OK and data belong together")
        let isAllowed = consented.flatMap { questions[$0]?.isAgreed } ?? false
        try promise(answer.connectionData == nil || isAllowed, "data was sent without consent")
    }

    private mutating func judge(_ asked: Invitee.InvitationRequest) throws(BrokenPromise) {
        try promise(!isStopped, "a question was asked after the advertiser stopped")
        try promise(questions[asked.question] == nil, "a question has the number of another")
        try promise(!over.contains(asked.question), "a question has the number of another")
        let rivals = questions.values.count { $0.inviter == asked.inviter.uid }
        try promise(rivals < 4, "an inviter is asked about too often")
        try promise(asked.isContested == (rivals > 0), "a contest is wrong")
        try promise(asked.inviter != cast.peers[0], "a peer invites itself")
        questions[asked.question] = Question(inviter: asked.inviter.uid, deadline: asked.deadline)
    }

    private mutating func judge(
        _ ending: Invitee.Ending, of id: QuestionID
    ) throws(BrokenPromise) {
        guard let question = questions.removeValue(forKey: id) else {
            throw BrokenPromise(description: "a question ends twice")
        }
        over.insert(id)
        switch ending {
        case .completed(let data):
            try promise(question.isAgreed, "an invitation is complete without agreement")
            try promise(data.peer.uid == question.inviter, "the data is another peer's")
            try promise(
                data.recipient == nil || data.recipient == cast.peers[0].uid, "the data is for another")
        case .refused: try promise(!question.isAgreed, "an accepted question was refused")
        case .failed: break
        }
    }

    private func judgeLimits() throws(BrokenPromise) {
        let strangers = lines.filter { line in
            switch invitee.phase(of: line.key) {
            case .securing, .greeting, .confirming, .proven: true
            case .asking, .agreed, nil: false
            }
        }
        try promise(lines.keys.allSatisfy { invitee.phase(of: $0) != nil }, "a connection was forgotten")
        try promise(strangers.count <= 96, "too many unauthenticated connections")
        let pending = lines.count - strangers.count
        try promise(questions.count == pending && pending <= 16, "too many questions are pending")
        for crowd in Dictionary(grouping: lines.keys, by: { lines[$0]?.origin ?? [] }).values {
            let own = crowd.count { strangers[$0] != nil }
            try promise(own <= 4 && crowd.count - own <= 4, "too many of one address")
        }
    }
}
