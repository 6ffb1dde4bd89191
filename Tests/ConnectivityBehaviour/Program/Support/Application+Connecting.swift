import MultipeerConnectivity

// For programs that are about what happens once two applications are connected.
extension Application {
    /// Connects the two by an invitation: the left one browses and invites, the right one advertises and accepts.
    /// Returns the other peer.
    @discardableResult
    func connect() async throws -> MCPeerID {
        if role == .left {
            inviteAll()
        } else {
            let session = session
            onInvitation = { _, _, answer in answer(true, session) }
            advertiser.startAdvertisingPeer()
        }
        return try await connected()
    }

    /// Advertises with this discovery info.
    func advertise(_ info: [String: String]?) {
        advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: info, serviceType: serviceType)
        advertiser.delegate = self
        advertiser.startAdvertisingPeer()
    }

    /// Invites every peer that it finds.
    func inviteAll() {
        let (browser, session) = (browser, session)
        onFound = { peer, _ in browser.invitePeer(peer, to: session, withContext: nil, timeout: 30) }
        browser.startBrowsingForPeers()
    }

    /// Waits until the other one is connected, and returns it.
    func connected() async throws -> MCPeerID {
        try await wait("\(role.other.rawValue) connected")
        guard let peer = lastConnected else { throw Failure("no peer is connected") }
        return peer
    }

    /// Finds the other application, which has to advertise, and returns its peer.
    @discardableResult
    func find() async throws -> MCPeerID {
        @Guarded var found: MCPeerID?
        onFound = { [$found] peer, _ in $found.wrappedValue = peer }
        browser.startBrowsingForPeers()
        try await wait("found \(role.other.rawValue)")
        guard let found else { throw Failure("no peer is found") }
        return found
    }

    /// Exchanges the archives of the two peers out of band, and returns the other one.
    func exchangePeers() async throws -> MCPeerID {
        post("peer", try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true))
        let archive = try await posted("peer")
        guard let other = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive) else {
            throw Failure("the archive has no peer")
        }
        return other
    }

    /// Connects the two by hand, and returns the other peer.
    @discardableResult
    func connectByHand() async throws -> MCPeerID {
        try await connectByHand(to: try await exchangePeers())
    }

    /// Connects by hand to the other peer, which is known.
    @discardableResult
    func connectByHand(to other: MCPeerID) async throws -> MCPeerID {
        post("data", try await session.nearbyConnectionData(forPeer: other))
        session.connectPeer(other, withNearbyConnectionData: try await posted("data"))
        return try await connected()
    }
}

// Files and bytes.
extension Application {
    /// Returns bytes in which no part repeats.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
        var data = Data(capacity: count + 8)
        while data.count < count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            withUnsafeBytes(of: state.littleEndian) { data.append(contentsOf: $0) }
        }
        return data.prefix(count)
    }

    /// Writes a file into the folder of this application.
    func file(_ name: String, _ data: Data) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try data.write(to: url)
        return url
    }

    /// Makes a file of a gibibyte that takes no room: its transfer outlasts the program.
    func endlessFile() throws -> URL {
        let url = try file("endless", Data())
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: 1 << 30)
        try handle.close()
        return url
    }
}
