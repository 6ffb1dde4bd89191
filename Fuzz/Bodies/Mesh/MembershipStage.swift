import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh

/// A membership and its model, with the same input; every result is compared.
struct MembershipStage {
    private var membership: Membership
    private var model: MembershipModel
    private var searches = DialModel()
    private var told = DeliveryModel()
    private let endpoints: [Endpoint]
    /// Whether the members have keys.
    private let isKeyed: Bool
    private var now = Moment(nanoseconds: 1_000_000_000)
    private var lastConnection: UInt32 = 0
    private(set) var isOver = false

    /// Creates the stage: the first bytes choose the number of endpoints, whether they have keys, which of them is this one, and
    /// the cap.
    init(_ input: inout InputReader) {
        let sizes = [4, 10, 20, 40]
        let shape = input.byte()
        isKeyed = shape & 4 != 0
        endpoints = Array(MeshFixture.endpoints.prefix(sizes[Int(shape & 3)]))
        let local = endpoints[Int(input.byte()) % endpoints.count]
        let cap = 2 + Int(input.byte() % 15)
        membership = Membership(
            local, peers: cap, signer: isKeyed ? MeshFixture.signer(of: local) : nil,
            verifier: MeshFixture.verifier, seed: UInt64(input.byte()))
        model = MembershipModel(local, cap: cap, isKeyed: isKeyed)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        switch input.byte() & 15 {
        case 0...6: try receive(&input)
        case 7, 8: link(&input)
        case 9: unlink(&input)
        case 10: meet(&input)
        case 11: endAttempt(&input)
        case 12, 13: try wait(&input)
        case 14: try waitForDeadline()
        default: publish(&input)
        }
        try compare()
        let remote = endpoints[Int(input.byte()) % endpoints.count]
        let listed = endpoints.prefix(Int(input.byte() & 7)).filter { $0 != remote }
        try promise(
            membership.admits(remote, listing: listed) == model.admits(remote, listing: listed),
            "the model decides differently about the cap")
    }

    /// Checks the end: everything that is held has been sent to every peer, and time alone changes nothing else.
    mutating func settle() throws(BrokenPromise) {
        for _ in 0..<8 where !isOver {
            now = now + .milliseconds(900)
            advance()
            try compare()
        }
        if !isOver { try told.everythingIsTold(model) }
    }
}

// MARK: what happens

extension MembershipStage {
    private func choose(_ input: inout InputReader) -> Endpoint {
        endpoints[Int(input.byte()) % endpoints.count]
    }

    private func line(_ input: inout InputReader) -> ConnectionID? {
        let ids = model.lines.keys.sorted()
        let choice = Int(input.byte())
        return ids.isEmpty ? nil : ids[choice % ids.count]
    }

    private mutating func receive(_ input: inout InputReader) throws(BrokenPromise) {
        guard let id = line(&input), let line = model.lines[id] else { return }
        let kind = input.byte()
        let isOwn = kind & 3 < 2
        let origin = isOwn ? line.endpoint : choose(&input)
        let list = members(of: origin, &input)
        guard let place = MeshFixture.endpoints.firstIndex(of: origin) else { return }
        let how = isKeyed ? input.byte() : 0
        let key = isKeyed && how & 7 == 0 ? 1 : 0
        let blobs = isKeyed ? MeshFixture.keyedBlobs[key][place] : MeshFixture.blobs[place]
        let variant = kind & 0x70 == 0 ? 2 : Int(kind >> 7)
        let unsigned = Members(
            origin: origin, sequence: sequence(input.byte()), members: list,
            blob: blobs[variant % blobs.count])
        let entry = isKeyed ? signed(unsigned, key, how) : unsigned
        told.came(entry, on: id)
        let (wrong, right) = (refusal(entry, on: id), modelRefusal(entry, on: id))
        try promise(wrong == right, "an entry caused \(wrong as Any), not \(right as Any)")
    }

    /// Returns the entry as its endpoint signs it, or with one of several faults.
    private func signed(_ entry: Members, _ key: Int, _ how: UInt8) -> Members {
        var signed = MeshFixture.signed(entry, by: entry.origin, key: key)
        switch how & 0x78 {
        case 0x08: signed.signature = MeshFixture.signed(entry, by: entry.origin, key: key + 1).signature
        case 0x10: signed.signature[0] ^= 1
        case 0x18: (signed.certificate, signed.signature) = ([], [])
        case 0x20: signed = MeshFixture.signed(entry, by: entry.origin, key: key + 1)
        case 0x28: signed.signature = [UInt8](repeating: 0, count: how & 0x80 == 0 ? 0 : 1_025)
        default: break
        }
        return signed
    }

    private mutating func refusal(_ entry: Members, on id: ConnectionID) -> Violation? {
        do throws(Violation) { try membership.receive(entry, on: id, at: now) } catch { return error }
        return nil
    }

    private mutating func modelRefusal(_ entry: Members, on id: ConnectionID) -> Violation? {
        do throws(Violation) { try model.receive(entry, on: id, at: now) } catch { return error }
        return nil
    }

    /// Returns a few members, or all, or some out of order.
    private func members(of origin: Endpoint, _ input: inout InputReader) -> [Endpoint] {
        let shape = input.byte()
        let skipped = choose(&input)
        if shape & 0xE0 == 0 { return Array(endpoints.filter { $0 != origin && $0 != skipped }.prefix(31)) }
        let list = (0..<(shape & 7)).map { _ in choose(&input) }
        return shape & 0xF8 == 0xF8 ? list : Set(list).subtracting([origin]).sorted(by: <)
    }

    private func sequence(_ byte: UInt8) -> UInt32 {
        switch byte {
        case 255: .max
        case 254: .max - 1
        case 253: 1 << 31
        case 252: 1 << 31 - 1
        default: UInt32(byte)
        }
    }

    private mutating func link(_ input: inout InputReader) {
        let (endpoint, isMesh) = (choose(&input), input.byte() & 7 != 0)
        guard endpoint != model.local, model.lines.count < 20,
            !model.lines.values.contains(where: { $0.endpoint == endpoint })
        else { return }
        lastConnection += 1
        let id = ConnectionID(rawValue: lastConnection)
        let key = isKeyed ? MeshFixture.fingerprint(of: endpoint) : nil
        membership.linked(id, to: endpoint, isMesh: isMesh, key: key, at: now)
        model.linked(id, to: endpoint, isMesh: isMesh, at: now)
        searches.linked(to: endpoint, at: now)
        if isMesh { told.linked(id, at: now) }
    }

    private mutating func unlink(_ input: inout InputReader) {
        guard let id = line(&input), let line = model.lines[id] else { return }
        let how = input.byte()
        let (hasDeparted, isDismissed) = (how & 3 == 0, how & 7 == 1)
        membership.linkEnded(id, hasDeparted: hasDeparted, isDismissed: isDismissed, at: now)
        model.linkEnded(id, hasDeparted: hasDeparted, isDismissed: isDismissed, at: now)
        searches.linkEnded(line, hasDeparted: hasDeparted || isDismissed, at: now)
        told.unlinked(id)
    }

    private mutating func meet(_ input: inout InputReader) {
        let endpoint = choose(&input)
        membership.met(endpoint, at: now)
        model.met(endpoint, at: now)
    }

    private mutating func endAttempt(_ input: inout InputReader) {
        let choice = input.byte()
        guard let uid = searches.dialled(Int(choice >> 2)) else { return }
        membership.attemptEnded(uid, isHopeless: choice & 3 == 0, at: now)
        model.advance(to: now)
        searches.attemptEnded(uid, isHopeless: choice & 3 == 0, at: now)
    }

    private mutating func publish(_ input: inout InputReader) {
        guard let place = MeshFixture.endpoints.firstIndex(of: model.local) else { return }
        let blobs = isKeyed ? MeshFixture.keyedBlobs[0][place] : MeshFixture.blobs[place]
        let blob = blobs[Int(input.byte() & 1)]
        guard let data = try? ConnectionData(parsing: blob) else { return }
        membership.publish(data, at: now)
        model.publish(blob, at: now)
    }
}

// MARK: time

extension MembershipStage {
    private mutating func advance() {
        membership.advance(to: now)
        model.advance(to: now)
    }

    private mutating func wait(_ input: inout InputReader) throws(BrokenPromise) {
        let steps: [Duration] = [
            .milliseconds(1), .milliseconds(70), .milliseconds(500), .seconds(1), .seconds(2), .seconds(7),
            .seconds(31), .seconds(61),
        ]
        let next = now + steps[Int(input.byte() & 7)]
        let isEarly = membership.deadline.map { next < $0 } ?? true
        now = next
        advance()
        guard isEarly else { return }
        var copy = membership
        try promise(copy.takeActions().isEmpty, "something happened before the deadline")
    }

    private mutating func waitForDeadline() throws(BrokenPromise) {
        guard let deadline = membership.deadline else { return }
        now = max(now, deadline)
        advance()
    }

    private mutating func compare() throws(BrokenPromise) {
        let actions = membership.takeActions()
        try judgeLeaving(actions == [.leave])
        guard !isOver else { return }
        try promise(membership.entries == model.entries, "the stored entries differ from the model's")
        try promise(
            membership.component == model.component.sorted(by: <), "the component differs from the model's")
        try searches.judge(actions, model)
        try told.judge(actions, model)
        try judgeDismissals(actions)
        try promise(membership.takeActions().isEmpty, "actions are taken twice")
        try promise(membership.deadline.map { now < $0 } ?? true, "the deadline does not move on")
    }

    private mutating func judgeDismissals(_ actions: [Membership.Action]) throws(BrokenPromise) {
        let due = model.lines.filter { $0.value.isMesh && model.surplus.contains($0.value.endpoint.uid) }.keys
            .sorted()
        try promise(actions.dismissed == due, "links to the wrong members are ended")
        for id in due {
            guard let line = model.lines[id] else { continue }
            membership.linkEnded(id, hasDeparted: false, at: now)
            model.linkEnded(id, hasDeparted: false, isDismissed: true, at: now)
            searches.linkEnded(line, hasDeparted: true, at: now)
            told.unlinked(id)
        }
        if !due.isEmpty { try compare() }
    }

    private mutating func judgeLeaving(_ leaves: Bool) throws(BrokenPromise) {
        guard let since = model.mustGoSince else {
            return try promise(!leaves, "it left although there is room")
        }
        isOver = leaves
        try promise(!leaves || now >= since + .seconds(1), "it left before its hold was over")
        try promise(leaves || now < since + .seconds(2), "it did not leave")
    }
}

extension [Membership.Action] {
    fileprivate var dismissed: [ConnectionID] {
        compactMap { if case .dismiss(let id) = $0 { id } else { nil } }
    }
}
