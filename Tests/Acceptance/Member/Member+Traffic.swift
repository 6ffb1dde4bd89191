import Foundation
import Multipeer
import MultipeerHistory
import MultipeerOrders
import MultipeerSecurity

// Numbered messages to all peers, and a file at intervals.

extension Member {
    private static let pause = Duration.milliseconds(50)
    /// The number of messages before each flush.
    private static let stretch: UInt64 = 20

    /// Sends to one peer for the whole run, whenever it is linked.
    func talk(to peer: PeerID) async {
        while !isOver {
            guard rate > 0, !isLeaving, linked.contains(peer), let session else {
                try? await Task.sleep(for: Member.pause)
                continue
            }
            let wait = Duration.seconds(1 / rate)
            await send(to: peer, on: session)
            try? await Task.sleep(for: wait)
        }
    }

    private func send(to peer: PeerID, on session: Session) async {
        let letter = letter(for: peer)
        let bytes = letter.bytes
        let before = await link(to: peer, on: session)
        log(.send, peer) {
            $0.number = letter.number
            $0.hash = Letter.hash(bytes)
            $0.link = before
        }
        do {
            try await session.send(bytes, to: peer)
        } catch {
            log(.unsent, peer) {
                $0.number = letter.number
                $0.reason = "\(error)"
            }
            return
        }
        let after = await link(to: peer, on: session)
        log(.sent, peer) {
            $0.number = letter.number
            $0.link = after
        }
        lastSent[peer] = letter.number
        if letter.number % Member.stretch == 0 { await flush(peer, on: session) }
    }

    /// Waits until everything has arrived, and records that.
    func flush(_ peer: PeerID, on session: Session) async {
        guard let number = lastSent[peer], let before = await link(to: peer, on: session) else { return }
        guard (try? await session.waitUntilReceived(by: peer)) != nil,
            await link(to: peer, on: session) == before
        else {
            return
        }
        log(.flushed, peer) {
            $0.number = number
            $0.link = before
        }
    }

    /// Returns the two addresses of the link, which are unique at any time and known to both ends.
    private func link(to peer: PeerID, on session: Session) async -> String? {
        await session.connectionInfo(for: peer).map {
            [$0.remoteAddress, $0.localAddress].sorted().joined(separator: "-")
        }
    }

    // MARK: files

    /// Offers a file to some peer at intervals.
    func giveFiles() async {
        while !isOver {
            guard files > 0, !isLeaving, let peer = linked.randomElement() else {
                try? await Task.sleep(for: Member.pause)
                continue
            }
            let wait = Duration.seconds(1 / files * Double.random(in: 0.5...1.5))
            if let session { errand { await $0.give(to: peer, on: session) } }
            // In pieces, so that a run can end.
            let deadline = ContinuousClock.now + wait
            while !isOver, ContinuousClock.now < deadline {
                try? await Task.sleep(for: min(wait, Member.pause))
            }
        }
    }

    private func give(to peer: PeerID, on session: Session) async {
        lastFile += 1
        let id = "\(options.name)-\(HistoryFile.now())-\(lastFile)"
        let path = options.folder.appending(path: id)
        defer { try? FileManager.default.removeItem(at: path) }
        let bytes = (0..<Int.random(in: 0...65_536)).map { _ in UInt8.random(in: 0...255) }
        guard (try? Data(bytes).write(to: path)) != nil else { return }
        log(.offer, peer) {
            $0.id = id
            $0.hash = SHA256.hash(bytes).hexadecimal
        }
        var outcome = Entry.good
        do throws(MultipeerError) {
            try await session.send(file: path, to: peer).waitUntilReceived()
        } catch {
            outcome = error.code.rawValue
        }
        log(.completed, peer) {
            $0.id = id
            $0.role = .sender
            $0.outcome = outcome
        }
    }

    /// Receives a file that was offered.
    nonisolated func take(_ resource: IncomingResource) async {
        var outcome = Entry.good
        var hash: String?
        do throws(MultipeerError) {
            let received = try await resource.receive(into: options.folder)
            hash = received.digest?.hexadecimal
            try? FileManager.default.removeItem(at: received.url)
        } catch {
            outcome = error.code.rawValue
        }
        log(.completed, resource.peer) {
            $0.id = resource.name
            $0.role = .receiver
            $0.outcome = outcome
            $0.hash = hash
        }
    }
}
