import MultipeerCommandLine
import MultipeerEssentials

/// The kernel's information in `/proc`, as far as this user may read it. Tests use a folder of their own.
package struct ProcFileSystem: Sendable {
    private let path: String
    private static let longest = 4 << 20

    package init(_ path: String = "/proc") { self.path = path }

    /// A process and its name.
    package struct Process: Hashable, Sendable {
        package let id: Int
        package let name: String

        package init(id: Int, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// Returns the contents of a file; nil when it is missing or forbidden.
    package func text(_ name: String) -> String? {
        guard let bytes = try? AtomicFile.read("\(path)/\(name)", limit: ProcFileSystem.longest) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number that a file contains; nil for anything else.
    package func number(_ name: String) -> Int? {
        text(name).flatMap { Int($0.withoutSpacesAround) }
    }

    /// All visible processes, by number.
    package var processes: [Process] {
        let names = FileSystem.names(in: path) ?? []
        return names.compactMap(Int.init).sorted().compactMap { id in
            text("\(id)/comm").map {
                Process(id: id, name: $0.withoutSpacesAround)
            }
        }
    }

    /// Returns the processes that have these sockets open, by inode; those of other users only for root.
    package func owners(of inodes: Set<UInt64>) -> [UInt64: [Process]] {
        var owners: [UInt64: [Process]] = [:]
        if inodes.isEmpty { return owners }
        for process in processes {
            let folder = "\(path)/\(process.id)/fd"
            let names = FileSystem.names(in: folder) ?? []
            let links = names.compactMap { FileSystem.target(ofLink: "\(folder)/\($0)") }
            for inode in Set(links.compactMap(ProcFileSystem.inode)).intersection(inodes) {
                owners[inode, default: []].append(process)
            }
        }
        return owners
    }

    private static func inode(_ link: String) -> UInt64? {
        guard link.begins(with: "socket:["), link.ends(with: "]") else { return nil }
        return UInt64(link.dropFirst("socket:[".count).dropLast())
    }

    /// Returns the UDP sockets of this machine that are bound to a port.
    package func sockets(on port: UInt16) -> [UDPTableEntry] {
        ["net/udp", "net/udp6"].flatMap { UDPTableEntry.all(in: text($0) ?? "") }.filter { $0.port == port }
    }
}

/// One line of `/proc/net/udp`.
package struct UDPTableEntry: Hashable, Sendable {
    package let port: UInt16
    /// The number of the owning user.
    package let user: UInt32
    package let inode: UInt64

    package init(port: UInt16, user: UInt32, inode: UInt64) {
        self.port = port
        self.user = user
        self.inode = inode
    }

    /// Returns the sockets that the text lists; skips lines of any other form.
    package static func all(in text: String) -> [UDPTableEntry] {
        text.pieces(at: "\n").compactMap { line in
            let fields = line.pieces(at: " ")
            guard fields.count > 9, let colon = fields[1].lastPosition(of: ":"),
                let port = UInt16(fields[1][fields[1].index(after: colon)...], radix: 16),
                let user = UInt32(fields[7]), let inode = UInt64(fields[9])
            else { return nil }
            return UDPTableEntry(port: port, user: user, inode: inode)
        }
    }
}
