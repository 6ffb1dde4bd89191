import MultipeerConnectivity

// The enumerations: switches, patterns, raw values, and conformances that applications add.

// idiom: a switch over the state, with unknown default

func text(for state: MCSessionState) -> String {
    switch state {
    case .notConnected: return "Not connected"
    case .connecting: return "Connecting…"
    case .connected: return "Connected"
    @unknown default: return "Unknown"
    }
}

// idiom: a switch over the three known states alone

func symbol(for state: MCSessionState) -> String {
    switch state {
    case .connected: "●"
    case .connecting: "◐"
    case .notConnected: "○"
    }
}

// idiom: a switch over one state, with a plain default

func isUsable(_ state: MCSessionState) -> Bool {
    switch state {
    case MCSessionState.connected: return true
    default: return false
    }
}

// idiom: an extension that describes the states

extension MCSessionState: @retroactive CustomStringConvertible {
    /// The case, in the notation of Swift.
    public var description: String {
        switch self {
        case .notConnected: ".notConnected"
        case .connecting: ".connecting"
        case .connected: ".connected"
        @unknown default: "state \(rawValue)"
        }
    }
}

// idiom: a guard, a comparison and a pattern for one state

func announcement(_ peer: MCPeerID, _ state: MCSessionState, _ former: MCSessionState?) -> String? {
    guard state != .connecting else { return nil }
    if case .connected? = former, state == .notConnected { return "\(peer.displayName) left" }
    return state == .connected ? "\(peer.displayName) is here" : nil
}

// idiom: the states of all peers in a dictionary

struct Presence {
    private var states: [MCPeerID: MCSessionState] = [:]

    subscript(peer: MCPeerID) -> MCSessionState {
        get { states[peer] ?? .notConnected }
        set { states[peer] = newValue == .notConnected ? nil : newValue }
    }

    var isConnected: Bool { states.values.contains(.connected) }
    var connecting: [MCPeerID] { states.filter { $0.value == .connecting }.map(\.key) }
}

// idiom: a state as a raw value in a notification

extension Notification.Name {
    static let peerDidChangeState = Notification.Name("peerDidChangeState")
}

func post(_ state: MCSessionState, of peer: MCPeerID) {
    let info: [AnyHashable: Any] = ["peer": peer, "state": state.rawValue]
    NotificationCenter.default.post(name: .peerDidChangeState, object: nil, userInfo: info)
}

func state(in notification: Notification) -> MCSessionState? {
    (notification.userInfo?["state"] as? Int).flatMap(MCSessionState.init(rawValue:))
}

// idiom: the application's own enumeration, initialised from the framework's

enum LinkStatus: String, CaseIterable {
    case offline, joining, online

    init(_ state: MCSessionState) {
        switch state {
        case .connected: self = .online
        case .connecting: self = .joining
        default: self = .offline
        }
    }
}

// idiom: an extension that lists all cases

extension MCEncryptionPreference: @retroactive CaseIterable {
    /// The three preferences.
    public static var allCases: [MCEncryptionPreference] { [.optional, .required, .none] }
}

// idiom: a mode that is Codable by its raw value

extension MCSessionSendDataMode: @retroactive Codable {}

struct Packet: Codable {
    var mode = MCSessionSendDataMode.reliable
    var payload = Data()
}

// idiom: an encryption preference from the settings

func preference(_ defaults: UserDefaults) -> MCEncryptionPreference {
    switch defaults.string(forKey: "encryption") {
    case "none": return .none
    case "optional": return MCEncryptionPreference.optional
    default: return .required
    }
}

// idiom: an optional encryption preference, compared with `.none`

func isPlain(_ preference: MCEncryptionPreference?) -> Bool {
    guard let preference else { return false }
    return preference == .none || preference == MCEncryptionPreference.none
}

// idiom: the limits of a session

func placesLeft(in session: MCSession) -> Int {
    max(0, kMCSessionMaximumNumberOfPeers - 1 - session.connectedPeers.count)
}

func canStart(_ session: MCSession) -> Bool {
    (kMCSessionMinimumNumberOfPeers...kMCSessionMaximumNumberOfPeers).contains(
        session.connectedPeers.count + 1)
}
