extension FuzzBody {
    /// A script of links, entries, attempts and time for one member; a simple model gets the same.
    package static let membership = FuzzBody("membership") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        var stage = MembershipStage(&input)
        var steps = 0
        // Fewer entries than one link may carry at once, which has a test of its own.
        while !input.isAtEnd, steps < 250, !stage.isOver {
            steps += 1
            try stage.step(&input)
        }
        try stage.settle()
    }
}
