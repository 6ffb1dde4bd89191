import MultipeerConnectivity

/// Commands for the peer id, and the descriptions of objects.
extension Device {
    func identity(_ order: String, _ words: Words) throws -> Fields? {
        switch order {
        case "peer": be(MCPeerID(displayName: try words.needed(0, "a name")))
        case "archive": try archive(try words.needed(0, "a file"))
        case "restore": be(try unarchive(try words.needed(0, "a file")))
        case "meet": note(try unarchive(try words.needed(0, "a file")))
        case "twins": twins(try words.needed(0, "a name"))
        case "constants": constants
        case "describe": try descriptions
        default: nil
        }
    }

    private func be(_ peer: MCPeerID) -> Fields {
        with { $0.me = peer }
        return note(peer).merging(["hashes": peer.hash == peer.hashValue]) { old, _ in old }
    }

    private func archive(_ path: String) throws -> Fields {
        let data = try NSKeyedArchiver.archivedData(withRootObject: try me, requiringSecureCoding: true)
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        return data.told
    }

    private func unarchive(_ path: String) throws -> MCPeerID {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        guard let peer = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data) else {
            throw Complaint("\(path) contains no archived peer")
        }
        return peer
    }

    /// Reports two ids with the same name.
    private func twins(_ name: String) -> Fields {
        let (one, other) = (MCPeerID(displayName: name), MCPeerID(displayName: name))
        let copy = one.copy() as? MCPeerID
        return [
            "equal": one == other, "isEqual": one.isEqual(other), "copyEqual": copy == one,
            "count": Set([one, other, one]).count, "name": one.displayName,
            "found": [one: 1, other: 2][copy ?? other] == 1,
        ]
    }

    private var constants: Fields {
        let codes: [MCError.Code] = [
            .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled, .unavailable,
        ]
        let modes: [MCSessionSendDataMode] = [.reliable, .unreliable]
        let states: [MCSessionState] = [.notConnected, .connecting, .connected]
        let preferences: [MCEncryptionPreference] = [.optional, .required, .none]
        let error: any Error = MCError(.timedOut, userInfo: ["a": 1])
        var isCaught = false
        do { throw error } catch MCError.timedOut { isCaught = true } catch {}
        return [
            "domain": MCErrorDomain, "errorDomain": MCError.errorDomain,
            "minimum": kMCSessionMinimumNumberOfPeers, "maximum": kMCSessionMaximumNumberOfPeers,
            "modes": modes.map(\.rawValue), "states": states.map(\.rawValue),
            "preferences": preferences.map(\.rawValue), "codes": codes.map(\.rawValue),
            "caught": isCaught, "nsDomain": (error as NSError).domain, "nsCode": (error as NSError).code,
            "userInfo": (error as NSError).userInfo["a"] as? Int ?? 0,
        ]
    }

    /// The descriptions and hashes of all objects.
    private var descriptions: Fields {
        get throws {
            let me = try me
            let (session, type) = (MCSession(peer: me), "mpc-described")
            let objects: [(String, NSObject)] = [
                ("MCPeerID", me), ("MCSession", session),
                (
                    "MCNearbyServiceAdvertiser",
                    MCNearbyServiceAdvertiser(peer: me, discoveryInfo: nil, serviceType: type)
                ),
                ("MCNearbyServiceBrowser", MCNearbyServiceBrowser(peer: me, serviceType: type)),
                (
                    "MCAdvertiserAssistant",
                    MCAdvertiserAssistant(serviceType: type, discoveryInfo: nil, session: session)
                ),
            ]
            var fields: Fields = ["distinct": Set(objects.map(\.1)).count]
            for (name, object) in objects {
                let convertible: any CustomStringConvertible & CustomDebugStringConvertible = object
                fields[name] = convertible.description
                fields[name + ".debug"] = convertible.debugDescription
                fields[name + ".hashed"] = AnyHashable(object) == AnyHashable(object)
            }
            return fields
        }
    }
}
