import MultipeerCore

/// One advertisement, and its registration on each interface.
///
/// ```
///   starting ──name──▶ registered
///    │  ▲ └─other name─┐     │
///    │  └──next name───┘     │
///    └──failed, overdue──▶ failed ──after a pause──▶ starting
/// ```
struct SystemAdvertisement: Sendable {
    private enum Phase: Equatable, Sendable {
        case starting(until: Moment)
        case registered
        case failed
    }

    private struct Registration: Sendable {
        var phase: Phase
        var attempt = 0
    }

    /// How long the responder may take: it probes for a second, and asks the network again after conflicts.
    static let timeLimit = Duration.seconds(10)
    /// The number of names that are tried without a pause. RFC 6762, 8.1.
    static let mostAttempts = 15

    var advert: Advert
    private var registrations: [UInt32: Registration] = [:]
    /// What the owner was notified of last.
    private var report = Report.none

    private enum Report { case none, refused, registered }

    init(_ advert: Advert) { self.advert = advert }

    /// The name for which it asks on an interface. [service.instance]
    func label(on interface: UInt32) -> String {
        let attempt = registrations[interface]?.attempt ?? 0
        return String(decoding: Binding.label(for: advert.peer, attempt: attempt), as: UTF8.self)
    }

    /// When the first registration is overdue.
    var deadline: Moment? {
        registrations.values.compactMap { registration in
            if case .starting(let until) = registration.phase { until } else { nil }
        }.min()
    }

    func overdue(at now: Moment) -> [UInt32] {
        registrations.filter { entry in
            if case .starting(let until) = entry.value.phase { until <= now } else { false }
        }.keys.sorted()
    }

    mutating func begin(_ interface: UInt32, at now: Moment) {
        let phase = Phase.starting(until: now + SystemAdvertisement.timeLimit)
        registrations[interface, default: Registration(phase: phase)].phase = phase
    }

    mutating func registered(on interface: UInt32) { registrations[interface]?.phase = .registered }

    mutating func failed(on interface: UInt32) { registrations[interface]?.phase = .failed }

    /// Chooses the next name. Returns false when a pause has to come first. [mdns.conflict]
    mutating func rename(on interface: UInt32) -> Bool {
        guard var registration = registrations[interface] else { return false }
        registration.attempt += 1
        registrations[interface] = registration
        return registration.attempt % SystemAdvertisement.mostAttempts != 0
    }

    /// Returns true once, when no registration is open and one has succeeded.
    mutating func takeIsRegistered() -> Bool {
        guard report != .registered, !isOpen, phases.contains(.registered) else { return false }
        report = .registered
        return true
    }

    /// Returns true once, when all registrations have failed and none ever succeeded.
    mutating func takeIsRefused() -> Bool {
        guard report == .none, !isOpen, !phases.contains(.registered) else { return false }
        report = .refused
        return true
    }

    private var phases: [Phase] { registrations.values.map(\.phase) }

    private var isOpen: Bool { phases.contains { $0 != .registered && $0 != .failed } }
}
