import MultipeerEssentials

/// What `multipeer receive` remembers about the files of one sender. It is bounded, whatever the sender offers.
package struct ReceivedFiles: Sendable {
    /// The names of files received from it, which not even `--force` replaces.
    private var names: Set<FilePath> = []
    /// The numbers of the files that the sender has offered, and the total that it announced.
    private var offered: Set<Int> = []
    private var announced = 0

    static let repeated = "a file with this name was just received"

    package init() {}

    /// How many numbers and names are held.
    package var count: Int { names.count + offered.count }

    /// Notes that a file was offered. Its number is at most `FilePosition.most`.
    package mutating func offer(_ place: FilePosition?) {
        guard let place else { return }
        offered.insert(place.number)
        announced = max(announced, place.count)
    }

    /// Returns why no file can be received under this name, as far as that depends on the earlier ones.
    package func obstacle(to name: String) -> String? {
        if names.contains(FilePath(name)) { return ReceivedFiles.repeated }
        return names.count < FilePosition.most ? nil : "\(FilePosition.most) files were received in this run"
    }

    /// Uses a name. Returns why that is not possible, and changes nothing then.
    package mutating func reserve(_ name: String) -> String? {
        if let obstacle = obstacle(to: name) { return obstacle }
        names.insert(FilePath(name))
        return nil
    }

    package mutating func receive(_ name: String) { names.insert(FilePath(name)) }

    /// Forgets a name whose file was not received in the end.
    package mutating func release(_ name: String) { names.remove(FilePath(name)) }

    /// How many of the announced files the sender has not offered.
    package var missing: (count: Int, total: Int) { (announced - offered.count, announced) }
}
