import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the loop calls

extension SessionDriver {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.found(token, readiness) }
    }
    nonisolated package func deadlineReached() { assumeIsolated { $0.advance() } }
    /// Messages wait for the end of the turn, where all of them are taken at once.
    nonisolated package func wokenUp() {
        if readyList.concernsChannels { assumeIsolated { $0.takeFromCallers() } }
    }
    nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

    private func found(_ token: Int, _ readiness: Readiness) {
        if token <= DatagramPorts.firstToken {
            datagrams.ready(token, readiness, &engine)
            carryOut()
            return events.deliver()
        }
        if token < 0 { return accept(from: token) }
        ready(connection: token, readiness)
        // Here and not only at the end of the turn: a reader on the loop can then respond within this turn.
        events.deliver()
    }

    private func advance() {
        engine.advance(to: loop.now)
        carryOut()
        lookAtDialled()
        resumeAccepting()
        loop.wantsTurnEnd(self)
    }

    /// Takes what callers queued since the last time: messages, pieces, and credit for consumed data. Visits only the links that
    /// are ready.
    func takeFromCallers() {
        consumed.take().forEach { sum in
            switch events.taken(sum) {
            case .messages(let id): engine.consumed(sum.cost, on: id)
            case .unreliableMessages(let id): engine.links.consumedDatagrams(sum.cost, on: id)
            case .events(let uid): engine.eventsTaken(sum.cost, of: uid)
            case nil: break
            }
        }
        var items: [ReadyList.ReadyItem] = []
        swap(&items, &readyItems)
        readyList.takeAll(swapping: &items)
        for readyItem in items {
            switch readyItem {
            case .messages(let id): takeMessages(of: id)
            case .datagrams(let id): datagrams.takeMessages(of: id)
            case .writer(let key): withLink(key.link) { channels.serveWriter(key, $1, &$0) }
            case .reader(let key): withLink(key.link) { channels.serveReader(key, $1, &$0) }
            case .files: for file in readyList.takeFiles() { open(file) }
            }
        }
        items.removeAll(keepingCapacity: items.count <= SessionDriver.usualItems)
        swap(&items, &readyItems)
        sockets.resume()
    }

    /// Of larger messages a few fill the queue: their sender would wait for a loop that waits for more.
    private static let smallMessage = 4_096

    /// The memory of longer lists is not kept.
    private static let usualItems = 64

    /// Does nothing when the connection is not a link.
    func withLink(_ id: ConnectionID, _ body: (inout SessionEngine, SessionLink) -> Void) {
        if let link = sockets.connections[id]?.link { body(&engine, link) }
    }

    func takeMessages(of id: ConnectionID) {
        withLink(id) { engine, link in
            if let message = link.sendQueue.takeOnly() {
                if message.count <= SessionDriver.smallMessage { loop.tookMessages(self) }
                return engine.links.enqueue(message, on: id)
            }
            let messages = link.sendQueue.take()
            if let first = messages.first, first.count <= SessionDriver.smallMessage {
                loop.tookMessages(self)
            }
            if !messages.isEmpty { engine.links.enqueue(messages, on: id) }
        }
    }

    /// Carries out every decision, writes what is due, delivers in one batch and sets the next deadline.
    func settle() {
        takeFromCallers()
        carryOut()
        writeDue()
        events.deliver()
        if let opening = datagrams.opening, opening <= loop.now {
            datagrams.openDue(for: self, &engine)
            carryOut()
            writeDue()
            events.deliver()
        }
        channels.releaseWritten()
        setDeadline()
    }

    private func setDeadline() {
        // A deadline would make the loop keep the driver until then.
        if isOver { return loop.setDeadline(self, nil) }
        let deadline = Moment.earlier(.earlier(engine.deadline, datagrams.opening), sockets.nextLook)
        loop.setDeadline(self, .earlier(deadline, sockets.acceptResumes))
    }
}
