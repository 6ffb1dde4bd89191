@unsafe @preconcurrency import MultipeerConnectivity

/// Commands for links by hand: connection data is exchanged in files.
extension Device {
    func manual(_ order: String, _ words: Words) throws -> Fields? {
        switch order {
        case "data":
            let (name, path) = (try words.needed(0, "a peer"), try words.needed(1, "a file"))
            try session.nearbyConnectionData(forPeer: try peer(name)) { data, error in
                var told: Fields = ["peer": name]
                if let error { told.merge(fields(of: error)) { old, _ in old } }
                if let data { told.merge(Device.leave(data, at: path)) { old, _ in old } }
                tell("data", told)
            }
        case "data-async":
            let (name, path) = (try words.needed(0, "a peer"), try words.needed(1, "a file"))
            let (session, peer) = (try session, try peer(name))
            Task {
                do {
                    let data = try await session.nearbyConnectionData(forPeer: peer)
                    tell("data", Device.leave(data, at: path).merging(["peer": name]) { old, _ in old })
                } catch {
                    tell("data", fields(of: error).merging(["peer": name]) { old, _ in old })
                }
            }
        case "connect":
            let (name, path) = (try words.needed(0, "a peer"), try words.needed(1, "a file"))
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            try session.connectPeer(try peer(name), withNearbyConnectionData: data)
        case "cancel-connect": try session.cancelConnectPeer(try peer(try words.needed(0, "a peer")))
        default: return nil
        }
        return [:]
    }

    /// Writes a file atomically.
    private static func leave(_ data: Data, at path: String) -> Fields {
        do {
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            return ["lost": "\(error)"]
        }
        return ["bytes": data.count]
    }
}
