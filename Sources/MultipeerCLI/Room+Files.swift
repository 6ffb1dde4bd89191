import Foundation
import Multipeer

/// Files: offered to one or to all, taken or not by each.
extension Room {
    func announce(_ resource: IncomingResource) {
        let number = offers.add(resource)
        let size = resource.size.map { ", \(Amount.bytes($0))" } ?? ""
        screen.note(
            "\(labels[resource.peer]) offers \(resource.name.printable)\(size): /accept \(number) or /decline \(number)"
        )
    }

    func decline(_ number: Int) {
        guard let resource = offers.take(number) else { return screen.tell("there is no file \(number)") }
        resource.decline()
    }

    func accept(_ number: Int, into directory: String) {
        do throws(Complaint) {
            let landing = try Landing(Room.expanded(directory), isForced: false)
            guard let resource = offers.take(number) else { return screen.tell("there is no file \(number)") }
            offers.receptions[number] = resource
            Task { await self.receive(resource, number, landing) }
        } catch {
            screen.tell("\(error)")
        }
    }

    private func receive(_ resource: IncomingResource, _ number: Int, _ landing: Landing) async {
        defer { offers.receptions[number] = nil }
        let start = ContinuousClock.now
        let name = FileName.of(label: resource.name)
        var report = TransferReport(.receiving)
        do {
            let folder = URL(filePath: landing.directory, directoryHint: .isDirectory)
            let file = try await resource.receive(into: folder)
            let time = start.duration(to: .now)
            let settled = try await files.run { () throws(Complaint) in
                do throws(Complaint) {
                    return try landing.settle(file.path, as: name)
                } catch {
                    _ = unsafe unlink(file.path)
                    throw error
                }
            }
            let digest = file.isVerified ? file.digest : nil
            let line = report.add(.init(name: settled, bytes: file.size, time: time, digest: digest))
            screen.note("\(line), from \(labels[resource.peer])")
        } catch {
            let reason = (error as? MultipeerError).map(TransferReport.reason) ?? "\(error)"
            screen.tell("\(report.fail(name, reason)), from \(labels[resource.peer])")
        }
    }

    func offer(_ text: String) {
        do throws(Complaint) {
            let (path, peers) = recipients(text)
            guard !peers.isEmpty else { return screen.tell("nobody is here to take it") }
            let source = try Source(path)
            guard source.origin != .input else { throw Complaint("a file is missing", exit: .usage) }
            let names = peers.map { labels[$0] }.joined(separator: ", ")
            screen.note("offered \(source.label.printable) to \(names)")
            for peer in peers { Task { await self.deliver(source, to: peer) } }
        } catch {
            screen.tell("\(error)")
        }
    }

    /// A path, perhaps with a name behind it: names of files and of peers may have spaces in them.
    private func recipients(_ text: String) -> (path: String, peers: [PeerID]) {
        let whole = Room.expanded(text)
        guard !FileManager.default.fileExists(atPath: whole),
            let (path, peer) = labels.find(atEndOf: text), members[peer]?.isLinked == true
        else { return (whole, linked) }
        return (Room.expanded(path), [peer])
    }

    private static func expanded(_ path: String) -> String {
        guard path.hasPrefix("~/") else { return path }
        return FileManager.default.homeDirectoryForCurrentUser.path + path.dropFirst()
    }

    private func deliver(_ source: Source, to peer: PeerID) async {
        let url: URL
        switch source.origin {
        case .file(let place), .web(let place): url = place
        case .input: return
        }
        let name = labels[peer]
        do throws(MultipeerError) {
            let resource = try await session.send(file: url, to: peer, name: source.label)
            try await resource.completion()
            let digest = resource.digest.map { ", sha256 \(Dissection.hex($0))" } ?? ""
            screen.note("\(name) has \(source.label.printable), \(Amount.bytes(resource.written))\(digest)")
        } catch {
            if isLeaving { return }
            screen.tell(
                "\(name) did not take \(source.label.printable): \(TransferReport.reason(error).printable)")
        }
    }

    /// Nothing of what is on its way stays.
    func abandonFiles() async {
        for resource in offers.receptions.values { resource.cancel() }
        let deadline = ContinuousClock.now + .seconds(1)
        while !offers.receptions.isEmpty, .now < deadline { try? await Task.sleep(for: .milliseconds(2)) }
    }
}
