import Foundation
import Testing

/// Processes in a room, each with the connection data of some others, exchanged through files.
struct ChatProcesses {
    let folder: Folder

    init() throws { folder = try Folder() }

    func data(_ name: String) -> String { folder.path("\(name).data") }

    /// Starts a process that takes the data of `others` as soon as it exists. `file`: for one whose name another has,
    /// too.
    func join(
        _ name: String, file: String? = nil, from others: [String], _ options: [String] = [],
        environment: [String: String] = [:], through wrapper: [String] = []
    ) throws -> Command {
        try Command(
            [
                "chat", "--unverified", "--name", name, "--listen", "127.0.0.1", "--timeout", "20", "--out",
                data(file ?? name),
            ]
                + others.flatMap { ["--from", data($0)] } + options,
            environment: environment, through: wrapper)
    }

    /// Starts processes that each exchange data only with the next one, and waits until all are linked.
    func chain(_ names: [String], _ options: [String] = []) async throws -> [Command] {
        var people: [Command] = []
        for (place, name) in names.enumerated() {
            let neighbours = names.enumerated().filter { abs($0.offset - place) == 1 }.map(\.element)
            people.append(try join(name, from: neighbours, options))
        }
        for (one, name) in zip(people, names) {
            #expect(try await one.says(all: names.filter { $0 != name }.map { "\($0) joined" }) == [])
        }
        return people
    }
}

extension Command {
    func types(_ line: String) async throws { try await send(Array("\(line)\n".utf8)) }

    /// Ends its input, and returns how it ended.
    func leaves() async throws -> Ending { try await finish() }
}

extension Folder {
    /// Returns the last bytes of a file.
    func end(of name: String, _ count: UInt64) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(filePath: path(name)))
        let size = try file.seekToEnd()
        try file.seek(toOffset: size - min(size, count))
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}
