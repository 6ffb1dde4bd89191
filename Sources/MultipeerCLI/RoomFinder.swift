import Multipeer

/// What makes a room known on the network, and finds the others who are in it.
struct RoomFinder: Sendable {
    let room: String
    let options: DiscoveryOptions
    let advertiser: Advertiser
    let browser: Browser

    init(_ room: String, _ options: DiscoveryOptions, as peer: PeerID) throws(Complaint) {
        self.room = room
        self.options = options
        let configuration = options.configuration
        let info: DiscoveryInfo
        do throws(InvalidDiscoveryInfo) {
            info = try DiscoveryInfo(Purpose.chat(room: room).info)
        } catch {
            throw Complaint("option '\(ChatCommand.room.name)': \(error)".printable, exit: .usage)
        }
        advertiser = Advertiser(
            peer: peer, service: options.service, info: info, configuration: configuration)
        browser = Browser(peer: peer, service: options.service, configuration: configuration)
    }

    func start() async throws(Complaint) {
        try await Complaint.translating { () async throws(MultipeerError) in
            try await advertiser.start()
            try await browser.start()
        }
    }

    func stop() async {
        async let isSilent: Void = advertiser.stop()
        await browser.stop()
        await isSilent
    }

    /// Whether somebody who was found is in this room.
    func isHere(_ peer: DiscoveredPeer) -> Bool { Purpose(info: peer.info) == .chat(room: room) }

    /// Whether an invitation is to this room.
    func isMeant(_ invitation: Invitation) -> Bool {
        Purpose(context: invitation.context) == .chat(room: room)
    }

    var context: [UInt8] { Purpose.chat(room: room).context }
}
