import Foundation

/// The histories of several processes: the runs of the members, and the faults that were injected.
package struct History: Sendable {
    package let runs: [Run]
    package let disturbances: Disturbances
    /// Lines that could not be read, apart from the last line of a file, which a death may have cut.
    package let unreadable: [Place]

    /// The runs of each member, in order of their beginning.
    package let runsByMember: [String: [Run]]

    package init(_ lines: [Line], unreadable: [Place] = []) {
        let disturbances = Disturbances(lines.filter { $0.entry.me == Entry.nemesis })
        var own: [String: [Line]] = [:]
        var order: [String] = []
        for line in lines where line.entry.me != Entry.nemesis {
            let key = line.place.file + "\n" + line.entry.me
            if own[key] == nil { order.append(key) }
            own[key, default: []].append(line)
        }
        let pieces = order.compactMap { own[$0] }.flatMap { lines in
            lines.split(beforeEach: { $0.entry.event == .start })
        }
        let starts = Dictionary(grouping: pieces.map { $0[0].entry }, by: \.me).mapValues { $0.map(\.t) }
        let runs = pieces.map { piece in
            let (me, start) = (piece[0].entry.me, piece[0].entry.t)
            let next = (starts[me] ?? []).filter { $0 > start }.min() ?? .max
            return Run(piece, killed: disturbances.deaths(of: me).first { (start..<next).contains($0) })
        }
        self.runs = runs
        self.disturbances = disturbances
        self.unreadable = unreadable
        runsByMember = Dictionary(grouping: runs, by: \.me).mapValues {
            $0.sorted { $0.span.start < $1.span.start }
        }
    }

    /// Reads the files; throws when one does not exist.
    package init(files: [String]) throws {
        var (lines, unreadable): ([Line], [Place]) = ([], [])
        let decoder = JSONDecoder()
        for file in files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
            for (index, text) in texts.enumerated() {
                let place = Place(file: file, line: index + 1)
                if let entry = try? decoder.decode(Entry.self, from: text) {
                    lines.append(Line(entry, at: place))
                } else if index + 1 < texts.count || bytes.last == UInt8(ascii: "\n") {
                    unreadable.append(place)
                }
            }
        }
        self.init(lines, unreadable: unreadable)
    }

    /// Returns the run of a member at a moment, if there is one.
    package func run(of member: String, at moment: UInt64) -> Run? {
        runsByMember[member]?.last { $0.span.start <= moment }
    }
}

extension Array {
    fileprivate func split(beforeEach isFirst: (Element) -> Bool) -> [[Element]] {
        reduce(into: []) { pieces, element in
            if pieces.isEmpty || isFirst(element) {
                pieces.append([element])
            } else {
                pieces[pieces.count - 1].append(element)
            }
        }
    }
}
