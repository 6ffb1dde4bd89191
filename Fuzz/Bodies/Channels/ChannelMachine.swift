extension FuzzBody {
    /// A script of frames from a peer, and of what applications and the network do meanwhile. The first bit chooses
    /// whether the peer is arbitrary, checked by a model, or another link that keeps the rules.
    package static let channelMachine = FuzzBody("channel-machine") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        if input.byte() & 1 == 0 {
            var stage = ChannelStage()
            var steps = 0
            // Fewer than the budgets of the link, which have tests of their own.
            while !input.isAtEnd, steps < 180, !stage.isOver {
                steps += 1
                try stage.step(&input)
            }
            try stage.settle()
        } else {
            var pair = ChannelPair()
            var steps = 0
            while !input.isAtEnd, steps < 600 {
                steps += 1
                try pair.step(&input)
            }
            try pair.settle()
        }
    }
}
