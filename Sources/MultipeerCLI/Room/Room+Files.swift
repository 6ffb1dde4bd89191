import MultipeerCommandLine
import MultipeerEssentials

/// Files: offered to one peer or to all, accepted or declined by each.
extension Room {
    func announce(_ resource: IncomingResource) {
        let number = offers.add(resource)
        let size = resource.size.map { ", \(HumanReadable.bytes($0))" } ?? ""
        screen.note(
            "\(members.name(of: resource.peer)) offers \(resource.name.printable)\(size): /accept \(number) or /decline \(number)"
        )
        Task { await self.watch(resource, number) }
    }

    /// Drops the offer when its sender withdraws it. The task ends with the file, however that ends.
    private func watch(_ resource: IncomingResource, _ number: Int) async {
        guard await resource.waitUntilEnded() != nil, offers.withdraw(number), members.isLinked(resource.peer)
        else { return }
        screen.note("\(members.name(of: resource.peer)) withdrew file \(number)")
    }

    func decline(_ number: Int) {
        guard let resource = offers.take(number) else { return screen.tell("no file \(number)") }
        resource.decline()
    }

    func accept(_ number: Int, into directory: String) {
        do throws(CommandError) {
            let downloads = try DownloadDirectory(UserDirectory.expanded(directory))
            guard let resource = offers.take(number) else { return screen.tell("no file \(number)") }
            offers.receptions[number] = resource
            Task { await self.receive(resource, number, downloads) }
        } catch {
            screen.tell("\(error)")
        }
    }

    private func receive(_ resource: IncomingResource, _ number: Int, _ downloads: DownloadDirectory) async {
        defer { offers.receptions[number] = nil }
        let (line, isComplete) = await RoomDownload(resource: resource, downloads: downloads).run()
        let text = "\(line) (from \(members.name(of: resource.peer)))"
        if isComplete { screen.note(text) } else { screen.tell(text) }
    }

    func offer(_ text: String) {
        do throws(CommandError) {
            let (path, peers) = recipients(text)
            guard !peers.isEmpty else { return screen.tell("nobody else is in the room") }
            let source = try TransferSource(path)
            guard source.origin != .input else { throw CommandError("no file given", exit: .usage) }
            let names = peers.map { members.name(of: $0) }.joined(separator: ", ")
            screen.note("offered \(source.label.printable) to \(names)")
            for peer in peers { Task { await self.deliver(source, to: peer) } }
        } catch {
            screen.tell("\(error)")
        }
    }

    /// Returns a path and its recipients. A name may follow the path; names of files and of peers may contain spaces.
    private func recipients(_ text: String) -> (path: String, peers: [PeerID]) {
        let whole = UserDirectory.expanded(text)
        guard !FileSystem.exists(whole),
            let (path, peer) = members.find(atEndOf: text)
        else { return (whole, members.linked.filter(mayReceive)) }
        return (UserDirectory.expanded(path), [peer].filter(mayReceive))
    }

    private func deliver(_ source: TransferSource, to peer: PeerID) async {
        let name = members.name(of: peer)
        do throws(MultipeerError) {
            let upload = RoomUpload(source: source, peer: peer)
            guard let received = try await upload.run(in: session, note: screen.note) else { return }
            screen.note("\(name) received \(received)")
        } catch {
            if isLeaving { return }
            screen.tell(
                "\(source.label.printable) not sent to \(name): \(TransferReport.reason(error).printable)")
        }
    }

    /// Cancels all incoming files, and leaves no parts of them.
    func abandonFiles() async {
        for resource in offers.receptions.values { resource.cancel() }
        let deadline = ContinuousClock.now + .seconds(1)
        while !offers.receptions.isEmpty, .now < deadline { try? await Task.sleep(for: .milliseconds(2)) }
    }
}
