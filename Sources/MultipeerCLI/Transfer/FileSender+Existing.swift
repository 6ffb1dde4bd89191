import MultipeerCommandLine
import MultipeerEssentials

/// Files that the receiver did not take because it has one of their name: whether that is the same.
extension FileSender {
    /// Returns the outcomes of files, where those that the receiver has already are found out. `outcomes`: by the numbers of the
    /// files.
    func compared(_ outcomes: [Int: Outcome], with peer: PeerID) async -> [Int: Outcome] {
        let numbers = outcomes.filter { sources[$0.key - 1].isComparable && $0.value.mayBeThere }.map(\.key)
        guard options.wantsDigest, !numbers.isEmpty, await answers.compares() else { return outcomes }
        // What the receiver is to compare with may be on its way still.
        for number in numbers {
            if let first = firsts[number], first.number < number { await first.ended.value() }
        }
        await comparing.lock()
        defer { comparing.unlock() }
        var files: [FileDigest] = []
        for number in numbers.sorted() {
            if let digest = await sources[number - 1].digest(number) { files.append(digest) }
        }
        guard let verdicts = await answers.compare(files, peer, connector.session) else { return outcomes }
        var outcomes = outcomes
        for (file, verdict) in zip(files, verdicts) {
            switch verdict {
            case .same:
                outcomes[file.number] = .same(bytes: file.size, digest: file.sha256)
                output.totals.end(file.number, bytes: file.size, isReceived: true)
            case .refused(let reason): outcomes[file.number] = .declined(reason)
            case .taken, .noSpace, .failed: break
            }
        }
        return outcomes
    }
}

extension FileSender.Outcome {
    /// Whether the receiver has a file of this name.
    fileprivate var mayBeThere: Bool {
        switch self {
        case .declined(let note): note == .exists || note == .repeated
        case .sent, .same, .failed, .unsent: false
        }
    }
}
