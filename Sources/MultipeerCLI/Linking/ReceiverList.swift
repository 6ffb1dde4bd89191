import MultipeerCommandLine
package import MultipeerEssentials

/// The receivers on the network, to choose one from. A number stays with its receiver, so that it never means another one when it
/// is typed. Pure: the caller has the terminal.
package struct ReceiverList: Sendable {
    package enum Effect: Equatable, Sendable {
        case nothing
        /// The list has to be drawn again.
        case changed
        case chosen(PeerID)
    }

    private struct Row: Sendable {
        let number: Int
        let peer: PeerID
    }

    /// The purpose of the local peer: only peers that suit it are listed.
    private let role: PeerRole
    private let store: TrustStore
    private var rows: [Row] = []
    private var last = 0
    private var marked: PeerID?
    /// The digits that were typed so far.
    private var typed = ""
    /// The bytes of an escape sequence that is not complete.
    private var escape: [UInt8] = []

    package init(as role: PeerRole, knowing store: TrustStore = TrustStore()) {
        self.role = role
        self.store = store
    }

    /// Returns a line about what has changed; nil for nothing.
    package mutating func note(_ event: DiscoveredPeer.Event) -> String? {
        switch event {
        case .found(let found), .updated(let found):
            guard PeerRole(info: found.info).map(role.suits) == true, found.codeNumber == nil else {
                return remove(found.peer)
            }
            let known = rows.firstIndex { $0.peer == found.peer }
            if let known, rows[known].peer.displayName == found.peer.displayName { return nil }
            last += known == nil ? 1 : 0
            let row = Row(number: known.map { rows[$0].number } ?? last, peer: found.peer)
            if let known { rows[known] = row } else { rows.append(row) }
            return text(of: row)
        case .lost(let peer): return remove(peer)
        }
    }

    private mutating func remove(_ peer: PeerID) -> String? {
        guard let index = rows.firstIndex(where: { $0.peer == peer }) else { return nil }
        let row = rows.remove(at: index)
        if marked == peer { marked = nil }
        return "\(row.number)  \(row.peer.displayName.printable) is gone"
    }

    private func text(of row: Row) -> String {
        let peer = row.peer
        // Its host has to prove the key of a keyed id before anything is sent to it.
        let entry = peer.uid.isKeyed ? store[peer.uid] : nil
        let known = entry.map { "  \($0.verification.words)" } ?? ""
        return "\(row.number)  \(peer.displayName.printable)  (id \(peer.shortID))\(known)"
    }
}

// MARK: - Choosing

extension ReceiverList {
    /// Returns the receiver that a line means: its number or its name, or nothing for the only one.
    package func choice(_ line: String) -> PeerID? {
        if line.isEmpty { return only }
        if let number = Int(line) { return rows.first { $0.number == number }?.peer }
        let meant = PeerSelector(line)?.matches(rows.map(\.peer)) ?? []
        return meant.count == 1 ? meant[0] : nil
    }

    /// Handles one byte of a key: a digit, an arrow, Backspace or Return.
    package mutating func take(_ byte: UInt8) -> Effect {
        if !escape.isEmpty || byte == 0x1B { return takeEscape(byte) }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard typed.count < 3 else { return .nothing }
            typed.append(Character(Unicode.Scalar(byte)))
            // Another digit could follow only if there is such a number.
            let mayGoOn = rows.contains {
                $0.number > 9 && "\($0.number)".begins(with: typed) && "\($0.number)" != typed
            }
            guard !mayGoOn, let peer = choice(typed) else { return .changed }
            return .chosen(peer)
        case 0x0A, 0x0D:
            let peer = typed.isEmpty ? pointed : choice(typed)
            typed = ""
            return peer.map { .chosen($0) } ?? .changed
        case 0x08, 0x7F: return typed.popLast() == nil ? .nothing : .changed
        default: return .nothing
        }
    }

    private mutating func takeEscape(_ byte: UInt8) -> Effect {
        escape.append(byte)
        let isOpen =
            escape.count == 1 || escape.count == 2 && [UInt8(ascii: "["), UInt8(ascii: "O")].contains(byte)
        guard !isOpen, !(escape.count > 2 && (0x20...0x3F).contains(byte)) else { return .nothing }
        defer { escape = [] }
        guard escape.count == 3 else { return .nothing }
        switch byte {
        case UInt8(ascii: "A"): return mark(-1)
        case UInt8(ascii: "B"): return mark(1)
        default: return .nothing
        }
    }

    private var only: PeerID? { rows.count == 1 ? rows[0].peer : nil }

    /// The receiver that Enter chooses.
    private var pointed: PeerID? { marked ?? only }

    private mutating func mark(_ step: Int) -> Effect {
        guard !rows.isEmpty else { return .nothing }
        let index = rows.firstIndex { $0.peer == marked }
        let next = index.map { min(max($0 + step, 0), rows.count - 1) } ?? (step > 0 ? 0 : rows.count - 1)
        typed = ""
        marked = rows[next].peer
        return .changed
    }

    /// Returns the list as it is drawn, with the marked receiver among the rows that fit.
    package func lines(width: Int, height: Int) -> [String] {
        guard !rows.isEmpty else { return ["no one waits to receive here yet".fitted(to: width)] }
        let head = "or choose a receiver, with its number or the arrows and Enter: \(typed)"
        let most = max(1, height - 2)
        let index = rows.firstIndex { $0.peer == pointed } ?? 0
        let first = max(0, min(index - most / 2, rows.count - most))
        let shown = rows.dropFirst(first).prefix(most)
        let texts = shown.map { (($0.peer == pointed ? "> " : "  ") + text(of: $0)).fitted(to: width) }
        let more = rows.count - shown.count
        return [head.fitted(to: width)] + texts + (more > 0 ? ["  and \(more) more"] : [])
    }
}
