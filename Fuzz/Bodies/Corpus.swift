import Foundation

/// Inputs kept on disk.
package enum Corpus {
    package struct Input {
        package let name: String
        package let bytes: [UInt8]
    }

    /// Returns all inputs for one body: its seeds and the inputs that once broke something.
    package static func inputs(for body: FuzzBody) throws -> [Input] {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try ["Seeds", "Regressions"].flatMap { kind in
            try inputs(at: fuzz.appending(path: "\(kind)/\(body.name)"))
        }
    }

    /// Returns the file at `place`, or the files directly in it, sorted by name, without files that begin with a dot.
    static func inputs(at place: URL) throws -> [Input] {
        let files =
            try place.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
            ? try FileManager.default.contentsOfDirectory(
                at: place, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            : [place]
        return try files.sorted { $0.path < $1.path }.map { file in
            let folder = file.deletingLastPathComponent().lastPathComponent
            return Input(
                name: "\(folder)/\(file.lastPathComponent)", bytes: [UInt8](try Data(contentsOf: file)))
        }
    }
}
