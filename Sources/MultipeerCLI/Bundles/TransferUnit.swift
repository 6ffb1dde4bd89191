import MultipeerCommandLine

/// What is sent at a time: one of the sources, by its place among them, or a bundle of small ones.
package enum TransferUnit: Sendable {
    case file(Int)
    case bundle(SentBundle)

    /// Of fewer files each is sent alone.
    package static let fewest = 16

    /// Returns whether enough of the sources are small files of directories for bundles to be of use.
    package static func wantsBundles(_ sources: [TransferSource]) -> Bool {
        var rest = fewest
        return sources.contains { source in
            if source.bundled != nil { rest -= 1 }
            return rest == 0
        }
    }

    /// Returns the units of all sources, in their order but for large files among small ones. No bundle has files of two
    /// directories of the command.
    package static func plan(_ sources: [TransferSource]) -> [TransferUnit] {
        var units: [TransferUnit] = []
        var files: [SentBundle.File] = []
        var (current, cost, number) = (SentDirectory?.none, 0, 0)
        func flush() {
            guard let directory = current, !files.isEmpty else { return }
            number += 1
            units.append(.bundle(SentBundle(number, of: directory, files)))
            (files, cost) = ([], 0)
        }
        for (place, source) in sources.enumerated() {
            if source.directory !== current {
                flush()
                current = source.directory
            }
            guard let entry = source.bundled else {
                units.append(.file(place))
                continue
            }
            let more = FileBundle.cost(of: entry.path, size: entry.size)
            if cost + more > FileBundle.longest || files.count == FileBundle.mostFiles { flush() }
            files.append(SentBundle.File(number: place + 1, entry: entry))
            cost += more
        }
        flush()
        return units
    }
}

extension TransferSource {
    /// The entry that can be in a bundle; nil for all other sources.
    var bundled: SentDirectory.Entry? {
        guard case .entry(_, let entry) = origin, entry.size <= UInt64(FileBundle.largestFile),
            !entry.path.directory.isEmpty
        else { return nil }
        return entry
    }
}
