/// What holds in every simulation, with its number in the design and its text.
package enum Invariant: String, CaseIterable, Sendable {
    case slots, symmetry, component, clique, oneConnection, database, stillness, messages, credit, dead,
        plain, honest
    case states, outcomes, stuck, joins, deadlines, links
    case silence, alive, gone, departed, delivery, refusal, cause
    case channels, transfers, waiters, codes, marks, memory, datagrams
    case proof, rules, authentic, reunion

    /// I1 to I12 of the plan; the others are this simulation's own.
    package var number: String {
        switch self {
        case .slots: "I1"
        case .symmetry: "I2"
        case .component: "I3"
        case .clique: "I4"
        case .oneConnection: "I5"
        case .database: "I6"
        case .stillness: "I7"
        case .messages: "I8"
        case .credit: "I9"
        case .dead: "I10"
        case .plain: "I11"
        case .honest: "I12"
        case .states: "S1"
        case .outcomes: "S2"
        case .stuck: "S3"
        case .joins: "S4"
        case .deadlines: "S5"
        case .links: "S6"
        case .silence: "S7"
        case .alive: "S8"
        case .gone: "S9"
        case .departed: "S10"
        case .delivery: "S11"
        case .refusal: "S12"
        case .cause: "S13"
        case .channels: "S14"
        case .transfers: "S15"
        case .waiters: "S16"
        case .codes: "S17"
        case .marks: "S18"
        case .memory: "S19"
        case .datagrams: "S20"
        case .proof: "S21"
        case .rules: "S22"
        case .authentic: "S23"
        case .reunion: "S24"
        }
    }

    package var text: String {
        switch self {
        case .slots: "never more links than slots, and never two to one peer"
        case .symmetry: "in quiescence, links are symmetric: both peers hold the link"
        case .component: "in quiescence, no component has more members than the cap"
        case .clique:
            "in quiescence, all members of a component are linked, unless firewalled or incompatible"
        case .oneConnection: "in quiescence, the two ends of a link hold the same connection"
        case .database: "in quiescence, all members of a component hold the same entries, and these are true"
        case .stillness: "after quiescence nothing changes"
        case .messages: "what is delivered was sent on that link, once, in order"
        case .credit: "no message is sent without credit, and no honest peer breaks a rule"
        case .dead: "no event concerns a connection that has ended"
        case .plain: "entries travel only on mesh links: encrypted, or between peers that never encrypt"
        case .honest: "honest members keep their links when one member lies"
        case .states: "the states of a peer alternate and none repeats"
        case .outcomes: "each attempt has exactly one outcome"
        case .stuck: "no peer stays connecting longer than an attempt lasts"
        case .joins: "two reachable, compatible peers that join in calm, with room for both, are linked"
        case .deadlines: "a machine that was advanced has its next deadline in the future"
        case .links: "a link begins and ends once, with one reason"
        case .silence: "a silent peer is detected within 11 seconds"
        case .alive: "no idle timeout ends a link to a live peer"
        case .gone: "in quiescence, the mesh dials no peer that is not a member"
        case .departed: "a peer that has left the mesh does not return for a minute"
        case .delivery: "in quiescence, messages make progress"
        case .refusal: "a peer beyond the capacity is refused, without effect on other links"
        case .channels:
            "a channel delivers what was written on it, in order, and each end is notified of its end once"
        case .transfers: "in quiescence, every channel has ended at both ends"
        case .waiters: "a caller that waits for a code, a mark or the end of a link is notified once"
        case .codes: "both ends of a link have the same code, when both have asked for it"
        case .marks: "a mark is reached when all messages before it have arrived, and not before"
        case .memory: "no peer holds more than the limits allow"
        case .datagrams:
            "UDP delivers what was sent on that link, once; an end that is up knows soon when nothing arrives; in quiescence it is used where not blocked"
        case .proof: "no peer is linked without a HELLO and a CONFIRM made for that connection by its peer"
        case .authentic:
            "an entry of an endpoint that has a key was made by it, and no other key replaces that one"
        case .reunion:
            "in quiescence, members that lost each other by faults are in one mesh again, without a call"
        case .rules: "a link on which its peer has broken a rule has ended"
        case .cause: "a link ends only for a cause that exists: a fault, or a decision of an application"
        }
    }
}

/// The first invariant that a run broke.
package struct InvariantViolation: Error, Sendable, CustomStringConvertible {
    package let invariant: Invariant
    /// Nanoseconds since the run began.
    package let moment: Int64
    package let detail: String

    package var description: String {
        "\(invariant.number) \(invariant): \(invariant.text); after \(moment / 1_000_000) ms: \(detail)"
    }
}
