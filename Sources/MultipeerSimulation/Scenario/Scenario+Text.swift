import MultipeerLink
import MultipeerSecurity

// One line per item, words separated by spaces; `#` begins a comment.

extension Scenario: CustomStringConvertible {
    /// The lines that `init(text:)` reads.
    package var description: String {
        var lines = ["scenario \(seed) \(mode.rawValue) cap \(cap) weather \(conditions.rawValue) end \(end)"]
        lines += peers.map(\.description)
        lines += firewallRules.map { "door \($0.from) \($0.to) \($0.isSilent ? "silent" : "refusing")" }
        lines += steps.map { "at \($0.moment) \($0.action)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The reason why a text is no scenario.
    package struct ParseError: Error, CustomStringConvertible {
        package let line: String
        package var description: String { "not a line of a scenario: \(line)" }
    }

    package init(text: String) throws(ParseError) {
        self.init(seed: 0, mode: .liveness, cap: 8, conditions: .fair, peers: [], end: 0)
        var hasBegun = false
        for line in text.split(whereSeparator: \.isNewline) {
            let words = (line.split(separator: "#", omittingEmptySubsequences: false).first ?? "").split(
                separator: " "
            )
            .map { String($0) }
            guard let first = words.first else { continue }
            let isRead =
                switch first {
                case "scenario": readHead(words)
                case "peer": readPeer(words)
                case "door": readDoor(words)
                case "at": readStep(words)
                default: false
                }
            hasBegun = hasBegun || first == "scenario"
            guard isRead else { throw ParseError(line: String(line)) }
        }
        guard hasBegun, isSound else {
            throw ParseError(line: "(the whole: a peer that is not there, or no head)")
        }
    }

    private var isSound: Bool {
        let named = steps.flatMap(\.action.peers) + firewallRules.flatMap { [$0.from, $0.to] }
        return named.allSatisfy { peers.indices.contains($0) } && peers.count <= 32 && (2...16).contains(cap)
    }

    private mutating func readHead(_ words: [String]) -> Bool {
        guard words.count == 9, let seed = UInt64(words[1]), let mode = Mode(rawValue: words[2]),
            let cap = Int(words[4]), let conditions = NetworkConditions(rawValue: words[6]),
            let end = Int(words[8])
        else { return false }
        (self.seed, self.mode, self.cap, self.conditions, self.end) = (seed, mode, cap, conditions, end)
        return true
    }

    private mutating func readPeer(_ words: [String]) -> Bool {
        guard words.count >= 2, let preference = EncryptionPreference(name: words[1]) else { return false }
        var peer = Peer(preference: preference)
        var place = 2
        while place < words.count {
            let value = place + 1 < words.count ? Int(words[place + 1]) : nil
            switch (words[place], value) {
            case ("identity", _): peer.hasIdentity = true
            case ("keyed", _): (peer.hasIdentity, peer.isKeyed) = (true, true)
            case ("datagrams", _): peer.datagrams = .open
            case ("deaf", _): peer.datagrams = .deaf
            case ("liar", _): peer.role = .byzantine
            case ("twin", let other?): peer.role = .twin(other)
            case ("rank", let rank?): peer.rank = rank
            case ("strays", let count?): peer.strayAddresses = count
            case ("credit", let credit?): peer.credit = UInt32(clamping: credit)
            case ("window", let window?): peer.window = UInt32(clamping: window)
            case ("memory", let memory?): peer.memory = memory
            case ("rate", let rate?): peer.rate = max(1, rate)
            default: return false
            }
            place += ["identity", "keyed", "liar", "datagrams", "deaf"].contains(words[place]) ? 1 : 2
        }
        peers.append(peer)
        return true
    }

    private mutating func readDoor(_ words: [String]) -> Bool {
        guard words.count == 4, let from = Int(words[1]), let to = Int(words[2]) else { return false }
        firewallRules.append(FirewallRule(from: from, to: to, isSilent: words[3] == "silent"))
        return true
    }

    private mutating func readStep(_ words: [String]) -> Bool {
        guard words.count >= 3, let moment = Int(words[1]), let action = Action(words: Array(words[2...]))
        else {
            return false
        }
        steps.append(Step(moment: moment, action: action))
        return true
    }
}

extension Scenario.Peer: CustomStringConvertible {
    package var description: String {
        var words = ["peer \(preference) rank \(rank)"]
        if hasIdentity { words.append(isKeyed ? "keyed" : "identity") }
        switch role {
        case .honest: break
        case .byzantine: words.append("liar")
        case .twin(let other): words.append("twin \(other)")
        }
        if strayAddresses > 0 { words.append("strays \(strayAddresses)") }
        if credit != 65_536 { words.append("credit \(credit)") }
        if window != 262_144 { words.append("window \(window)") }
        if memory != ReceiveMemory.limit { words.append("memory \(memory)") }
        if let rate { words.append("rate \(rate)") }
        if datagrams != .none { words.append(datagrams == .open ? "datagrams" : "deaf") }
        return words.joined(separator: " ")
    }
}

extension Scenario.Action: CustomStringConvertible {
    package var description: String {
        switch self {
        case .join(let one, let other, let isAddressed):
            "join \(one) \(other)\(isAddressed ? " addressed" : "")"
        case .direct(let one, let other): "direct \(one) \(other)"
        case .invite(let one, let other, let time, let answer): "invite \(one) \(other) \(time) \(answer)"
        case .cancel(let one, let other): "cancel \(one) \(other)"
        case .goodbye(let one): "goodbye \(one)"
        case .crash(let one, let isSilent): "crash \(one)\(isSilent ? " silent" : "")"
        case .start(let one, let newPort): "start \(one)\(newPort ? " elsewhere" : "")"
        case .pause(let one, let time): "pause \(one) \(time)"
        case .jump(let one, let time): "jump \(one) \(time)"
        case .slow(let one, let time): "slow \(one) \(time)"
        case .cut(let one, let other): "cut \(one) \(other)"
        case .snap(let one, let other): "snap \(one) \(other)"
        case .split(let near, let isOneSided, let time): "split \(near) \(time)\(isOneSided ? " oneway" : "")"
        case .burst(let one, let messages): "burst \(one) \(messages)"
        case .lie(let one, let lie, let time): "lie \(one) \(time) \(lie)"
        case .transfer(let one, let transfer): "send \(one) \(transfer)"
        case .code(let one, let time): "code \(one) \(time)"
        case .flush(let one): "flush \(one)"
        case .deafen(let one, let time): "deafen \(one) \(time)"
        case .silence(let one, let time): "silence \(one) \(time)"
        case .thin(let one, let percent, let time): "thin \(one) \(time) \(percent)"
        }
    }

    fileprivate init?(words: [String]) {
        let one = words.count > 1 ? Int(words[1]) : nil
        let two = words.count > 2 ? Int(words[2]) : nil
        let last = words[words.count - 1]
        switch (words[0], one, two) {
        case ("join", let one?, let two?): self = .join(one, two, isAddressed: last == "addressed")
        case ("direct", let one?, let two?): self = .direct(one, two)
        case ("invite", let one?, let two?):
            guard words.count > 4, let time = Int(words[3]), time > 0,
                let answer = Scenario.Answer(words: Array(words[4...]))
            else { return nil }
            self = .invite(one, two, time, answer)
        case ("cancel", let one?, let two?): self = .cancel(one, two)
        case ("goodbye", let one?, _): self = .goodbye(one)
        case ("crash", let one?, _): self = .crash(one, isSilent: last == "silent")
        case ("start", let one?, _): self = .start(one, newPort: last == "elsewhere")
        case ("pause", let one?, let time?): self = .pause(one, milliseconds: time)
        case ("jump", let one?, let time?): self = .jump(one, milliseconds: time)
        case ("slow", let one?, let time?): self = .slow(one, milliseconds: time)
        case ("cut", let one?, let two?): self = .cut(one, two)
        case ("snap", let one?, let two?): self = .snap(one, two)
        case ("split", let near?, let time?):
            self = .split(
                near: UInt32(truncatingIfNeeded: near), isOneSided: last == "oneway", milliseconds: time)
        case ("burst", let one?, let count?): self = .burst(one, messages: count)
        case ("lie", let one?, let time?): self = .lie(one, last, milliseconds: time)
        case ("deafen", let one?, let time?): self = .deafen(one, milliseconds: time)
        case ("silence", let one?, let time?): self = .silence(one, milliseconds: time)
        case ("thin", let one?, let time?):
            guard words.count > 3, let percent = Int(last), (0...100).contains(percent) else { return nil }
            self = .thin(one, percent: percent, milliseconds: time)
        case ("send", let one?, let bytes?):
            guard let transfer = Scenario.Transfer(bytes, words: words.dropFirst(3)) else { return nil }
            self = .transfer(one, transfer)
        case ("code", let one?, let time?): self = .code(one, milliseconds: time)
        case ("flush", let one?, _): self = .flush(one)
        default: return nil
        }
    }
}

extension Scenario.Transfer: CustomStringConvertible {
    package var description: String {
        let what = "\(bytes) \(isFile ? "file" : "stream")"
        return switch end {
        case .finished: what
        case .reset(let count): "\(what) reset \(count)"
        case .stopped(let count): "\(what) stop \(count)"
        }
    }

    fileprivate init?(_ bytes: Int, words: ArraySlice<String>) {
        guard bytes >= 0, let kind = words.first, ["file", "stream"].contains(kind) else { return nil }
        self.init(isFile: kind == "file", bytes: bytes, end: .finished)
        let rest = words.dropFirst()
        switch (rest.first, rest.last.flatMap { Int($0) }) {
        case (nil, _): break
        case ("reset", let count?): end = .reset(after: count)
        case ("stop", let count?): end = .stopped(after: count)
        default: return nil
        }
    }
}

extension Scenario.Answer: CustomStringConvertible {
    package var description: String {
        switch self {
        case .accepts(let delay): "accepts \(delay)"
        case .declines(let delay): "declines \(delay)"
        case .never: "never"
        }
    }

    init?(words: [String]) {
        let delay = words.count > 1 ? Int(words[1]) : nil
        switch (words.first, delay) {
        case ("accepts", let delay?): self = .accepts(delay)
        case ("declines", let delay?): self = .declines(delay)
        case ("never", nil): self = .never
        default: return nil
        }
    }
}
