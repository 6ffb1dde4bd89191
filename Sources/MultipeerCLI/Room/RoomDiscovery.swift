import MultipeerCommandLine
import MultipeerEssentials

/// Advertises a room on the network, and browses for the other peers in it.
struct RoomDiscovery: Sendable {
    let room: String
    /// What those in the room have, and no others; nil for a room that anyone can join.
    let code: InvitationCode?
    let options: DiscoveryOptions
    let advertiser: Advertiser
    let browser: Browser
    /// Where members are that the user has named.
    let addresses: [PeerAddress]
    private let listenAddresses: [SocketAddress]

    init(
        _ room: String, _ code: InvitationCode?, _ options: DiscoveryOptions, as own: SessionOptions,
        at addresses: [PeerAddress]
    ) throws(CommandError) {
        self.addresses = addresses
        listenAddresses = own.configuration.listenAddresses
        self.room = room
        self.code = code
        self.options = options
        let configuration = own.sharing(options.configuration)
        let info: DiscoveryInfo
        do throws(MultipeerError) {
            info = try DiscoveryInfo(PeerRole.chat(room: room).info)
        } catch {
            throw CommandError("option '\(ChatCommand.room.name)': \(error)".printable, exit: .usage)
        }
        advertiser = Advertiser(
            peer: own.peer, service: options.service, info: info, identity: own.configuration.identity,
            code: code, validity: .repeated, configuration: configuration)
        browser = Browser(peer: own.peer, service: options.service, configuration: configuration)
    }

    func start() async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in
            try await advertiser.start()
            try await browser.start()
        }
    }

    func stop() async {
        async let isSilent: Void = advertiser.stop()
        await browser.stop()
        await isSilent
    }

    /// How others reach this peer, once it is advertised.
    func listeningPlace() async -> ListeningPlace {
        await ListeningPlace(of: advertiser, at: listenAddresses)
    }

    /// What others type to join.
    func invocation(_ code: InvitationCode, _ listening: ListeningPlace) -> String {
        "\(Terminal.name) chat \(code)\(place)\(options.typeOption)\(listening.option)"
    }

    /// What others type to join a room without a code where discovery is not available.
    func invocation(_ listening: ListeningPlace) -> String {
        "\(Terminal.name) chat\(place)\(listening.option)"
    }

    private var place: String {
        room == PeerRole.lobby ? "" : " \(ChatCommand.room.name) \(RoomDiscovery.quoted(room))"
    }

    /// Returns the name of a room as a shell reads it.
    private static func quoted(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
        }
        return isPlain ? name : "'\(name.printable.replacing(each: "'", with: "'\\''"))'"
    }

    /// Returns whether a discovered peer is in a room of this name, perhaps with another code.
    func hasName(_ peer: DiscoveredPeer) -> Bool { PeerRole(info: peer.info) == .chat(room: room) }

    /// Returns whether a discovered peer claims to be in this room.
    func isHere(_ peer: DiscoveredPeer) -> Bool { hasName(peer) && peer.codeNumber == code?.number }

    /// Returns whether an invitation is to this room.
    func isMeant(_ invitation: Invitation) -> Bool {
        PeerRole(context: invitation.context) == .chat(room: room)
    }

    /// Short, since no user is asked. With a code, a peer that does not answer at once may be an impostor that keeps others from
    /// being tried.
    var invitationTimeout: Duration { code == nil ? .seconds(20) : .seconds(5) }

    var context: [UInt8] { PeerRole.chat(room: room).context }
}
