import MultipeerCommandLine
import MultipeerEssentials

/// Joining by hand: connection data from an argument, from a file, or typed.
extension Room {
    static let codeIsNeeded = "this room has a code: others join with --code"

    func add(_ text: String) {
        guard finder?.code == nil else {
            return screen.tell(Room.codeIsNeeded)
        }
        do throws(CommandError) {
            let data = try ConnectionDataInput.read(ConnectionDataInput.decode(text))
            arrival.searchesBegan(1)
            Task { await search { await self.connect(data) } }
        } catch {
            screen.tell("\(error)")
        }
    }

    /// Returns whether the peer is linked. It counts as present from its event on: lines before that are not sent to it.
    func connect(_ data: ConnectionData) async -> Bool {
        meet(data.peer)
        members.update(data.peer) { $0.seekers += 1 }
        defer { members.update(data.peer) { $0.seekers -= 1 } }
        do throws(MultipeerError) {
            try await session.connect(with: data)
            return true
        } catch {
            arrival.failed(error)
            if !isLeaving {
                screen.tell("cannot link with \(members.name(of: data.peer)): \(error.description.printable)")
            }
            return false
        }
    }

    /// Waits for a file with data; when linking with that fails, for other data in it.
    func watch(_ path: String) async -> Bool {
        let file = ConnectionDataFile(path, on: files)
        if !file.isThere { screen.note("waiting for \(path.printable)") }
        var old: [UInt8]?
        while !isLeaving {
            do throws(CommandError) {
                guard let contents = try await file.contents(otherThan: old) else { return false }
                old = contents
                if try await connect(ConnectionDataInput.read(ConnectionDataInput.decode(contents: contents)))
                {
                    return true
                }
            } catch {
                guard error.exit == .badInput else {
                    screen.tell("\(error)")
                    return false
                }
                screen.tell("\(path.printable): \(error)")
            }
        }
        return false
    }
}
