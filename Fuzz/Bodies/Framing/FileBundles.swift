import MultipeerCommandLine
import MultipeerCore
import MultipeerTransport

extension FuzzBody {
    /// Small files that `multipeer` receives as one resource, and lists of them. The first byte chooses which.
    package static let fileBundle = FuzzBody("file-bundle") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let isList = input.byte() % 2 == 1
        let bytes = input.rest()
        guard let bundle = try? FileBundle(reading: bytes, isList: isList) else { return }
        try promise(
            (1...FileBundle.mostFiles).contains(bundle.entries.count), "a bundle has files, and not too many")
        var writer = FileBundleWriter()
        var (last, end, isPlain) = (-1, 0, true)
        for entry in bundle.entries {
            try promise(entry.number > last, "numbers only increase")
            try promise(
                entry.contents.lowerBound >= end && entry.contents.upperBound <= bytes.count
                    && entry.contents.count == (isList ? 0 : entry.size)
                    && entry.size <= FileBundle.largestFile,
                "the bytes of a file follow those of the file before")
            (last, end) = (entry.number, entry.contents.upperBound)
            guard case .success(let path) = entry.path else {
                isPlain = false
                continue
            }
            try promise(
                path.components.allSatisfy { RelativePath.fault(ofName: $0.text) == nil }
                    && path.name == entry.name
                    && (try? RelativePath(path.text)) == path, "a path has only names, and is read again")
            writer.enter(path.directory)
            FileBundleWriter.put(
                entry.number, entry.kind, entry.modified, entry.name, size: entry.size, &writer.bytes)
            writer.bytes += bytes[entry.contents]
        }
        guard isPlain, let again = try? FileBundle(reading: writer.bytes, isList: isList) else {
            return try promise(!isPlain, "a bundle that was written is read again")
        }
        try promise(
            again.entries.map(\.number) == bundle.entries.map(\.number)
                && again.entries.map { Array(writer.bytes[$0.contents]) }
                    == bundle.entries.map { Array(bytes[$0.contents]) },
            "a bundle that was written is read unchanged")
    }
}
