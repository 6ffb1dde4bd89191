/// What the subject's process holds.
struct ProcessUsage: Sendable {
    let memory: Int
    let descriptors: Int
    let threads: Int

    /// Returns a text of what is more than in `before`; empty if nothing is. Memory may grow by `allowance` bytes.
    func excess(over before: ProcessUsage, allowance: Int) -> String {
        var words: [String] = []
        if descriptors > before.descriptors {
            words.append("\(descriptors - before.descriptors) descriptors")
        }
        if threads > before.threads + 2 { words.append("\(threads - before.threads) threads") }
        if memory > before.memory + allowance { words.append("\((memory - before.memory) / 1_024) KiB") }
        return words.joined(separator: ", ")
    }
}

extension Subject {
    /// Returns what the process holds; nil if its shim does not report it.
    func processUsage() throws -> ProcessUsage? {
        let answer = try ask("stats")
        if answer["unimplemented"]?.isTrue == true { return nil }
        guard let rss = answer["rss"]?.int, let descriptors = answer["fds"]?.int,
            let threads = answer["threads"]?.int
        else { return nil }
        // If the system lists descriptors, those that a runtime creates once on first use, such as a timer, do not count.
        let open = openDescriptors.filter { !$0.contains("anon_inode:") }
        return ProcessUsage(
            memory: answer["heap"]?.int ?? rss, descriptors: open.isEmpty ? descriptors : open.count,
            threads: threads)
    }
}
