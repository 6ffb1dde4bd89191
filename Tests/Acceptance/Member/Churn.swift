import Foundation
import Multipeer
import MultipeerHistory
import MultipeerOrders

/// Members of one process that join, leave and are dropped at random while they send messages and files.
struct Churn {
    let seconds: Double
    let count: Int
    let folder: URL
    let history: String

    func run() async throws {
        var members: [Member] = []
        for number in 1...count {
            var options = Member.Options()
            options.name = "member-\(number)"
            options.folder = folder
            options.history = history
            options.configuration.listenAddresses = [.loopback]
            options.rate = 5
            options.files = 0.5
            members.append(try Member(options))
        }
        for member in members { try await member.start() }
        var present: Set<Int> = []
        var (joins, leaves, drops) = (0, 0, 0)
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            let index = Int.random(in: members.indices)
            switch (present.contains(index), Int.random(in: 0..<10)) {
            case (false, _):
                let others = present.isEmpty ? Set(members.indices).subtracting([index]) : present
                if let other = others.randomElement() {
                    try await join(members[index], members[other])
                    present.formUnion([index, other])
                    joins += 1
                }
            case (true, 0..<2):
                try await members[index].leave()
                present.remove(index)
                leaves += 1
            case (true, 2..<4):
                await members[index].drop()
                try await members[index].start()
                present.remove(index)
                drops += 1
            default: break
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...500)))
        }
        for member in members { try await member.quit() }
        Orders.say("\(joins) joins, \(leaves) leaves, \(drops) drops")
    }

    private func join(_ one: Member, _ other: Member) async throws {
        let (mine, theirs) = (try await one.data(), try await other.data())
        await one.join(theirs)
        await other.join(mine)
    }
}
