package import MultipeerEssentials

/// Whose the files of one run are, where files may be replaced: no peer replaces a file that the run has received from another
/// one. A peer that comes back replaces its own. It is bounded, whatever the peers send.
package final class FileOwners: Sendable {
    private struct Owner: Sendable {
        let peer: PeerID
        /// The files on their way under this name: more than one only if the peer is back before its earlier link has ended.
        var active = 1
        var isReceived = false
    }

    private let owners = Locked<[FilePath: Owner]>([:])
    private let most: Int

    package init(most: Int = FilePosition.most) { self.most = most }

    /// Uses a name for a file that is going to be received. Returns why that is not possible, and changes nothing then.
    package func claim(_ name: String, for peer: PeerID) -> String? {
        let name = FilePath(name)
        return owners.withLock { owners in
            guard let owner = owners[name] else {
                guard owners.count < most else { return "\(most) files were received in this run" }
                owners[name] = Owner(peer: peer)
                return nil
            }
            guard owner.peer == peer else { return ReceivedFiles.repeated }
            owners[name]?.active += 1
            return nil
        }
    }

    /// Ends a claim: a name whose file was not received is free again, unless an earlier file has it.
    package func end(_ name: String, isReceived: Bool) {
        let name = FilePath(name)
        owners.withLock { owners in
            guard var owner = owners[name] else { return }
            owner.active -= 1
            owner.isReceived = owner.isReceived || isReceived
            owners[name] = owner.active > 0 || owner.isReceived ? owner : nil
        }
    }
}
