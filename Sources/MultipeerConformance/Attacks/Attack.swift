/// Something that a hostile peer does to a program that has no shim: a command between other processes, which the attacker
/// knows only by its connection data, or by the port at which it accepts invitations.
package struct Attack: Sendable {
    package let name: String
    /// What it does, and the parameters that it needs.
    package let summary: String
    let body: @Sendable (AttackRun) throws -> Void

    package static let all: [Attack] = LinkAttacks.all + MeshAttacks.all + InvitationAttacks.all

    /// Runs it until standard input ends, and prints what the victim did: one JSON object per line.
    ///
    /// Throws what kept the attacker from its attack; it is no result.
    package func run(_ parameters: [String: String]) throws {
        try body(AttackRun(parameters))
    }
}

/// One run of an attack: its parameters, its peers and its output.
final class AttackRun {
    /// The clock, the log and the random numbers of the tester. It has no subject.
    let caseRun: CaseRun
    private let parameters: [String: String]
    private let lines = JSONLinesIO()
    /// Whether standard input has ended.
    private(set) var isOver = false

    init(_ parameters: [String: String]) {
        self.parameters = parameters
        caseRun = CaseRun(.testerLower, shim: "", random: SplitMix64(seed: .random(in: 0...UInt64.max)))
        lines.isAtEnd = { [unowned self] in isOver = true }
        caseRun.loop.add(lines)
    }

    func tell(_ facts: [String: JSONValue]) { lines.say(.object(facts)) }

    /// Serves all connections until standard input ends.
    func hold() { while !isOver { caseRun.loop.wait(.seconds(60)) { isOver } } }

    // MARK: Parameters

    func text(_ key: String) throws -> String {
        guard let text = parameters[key] else { throw SuiteFault("the attack needs \(key)=…") }
        return text
    }

    func number<Number: FixedWidthInteger>(_ key: String, _ standard: Number? = nil) throws -> Number {
        if let standard, parameters[key] == nil { return standard }
        guard let number = Number(try text(key)) else { throw SuiteFault("\(key) is not a number") }
        return number
    }

    func uid(_ key: String) throws -> [UInt8] {
        guard let uid = [UInt8](hex: try text(key)), uid.count == 16 else {
            throw SuiteFault("\(key) is not a uid")
        }
        return uid
    }
}

extension TesterLink {
    /// The code with which the subject has closed the connection; nil if it has sent none.
    var closeCode: CloseCode? { waiting.first { $0.kind == .close }?.code }
}
