import Distributed
import MultipeerActors

/// An actor, what was registered of it, and a hand-written list of what that allows.
struct CallPermit: Sendable {
    private let actor: any DistributedActor
    private let allowList: CallAllowList
    /// Returns whether a peer may call that with these generic arguments: a list of names, without a parser.
    private let allows: @Sendable (_ target: String, _ generics: [String]) -> Bool

    /// Asks every one of them twice, since the result is cached.
    static func ask(_ target: String, _ generics: [String]) throws(BrokenPromise) {
        for one in try all() {
            for _ in 0..<2 {
                let refusalReason = one.allowList.refusalReason(about: target, generics, on: one.actor)
                try promise(
                    (refusalReason == nil) == one.allows(target, generics),
                    "only the methods of \(one.actor) may be called, not \(target) with \(generics)"
                )
            }
        }
    }

    private static func all() throws(BrokenPromise) -> [CallPermit] {
        do throws(ActorCallError) {
            return try registered.get()
        } catch {
            throw BrokenPromise(description: "an actor of the harness cannot be registered: \(error)")
        }
    }

    /// Once: the runtime keeps what it has made of a type.
    private static let registered = Result { () throws(ActorCallError) -> [CallPermit] in
        let system = LocalTestingDistributedActorSystem()
        let (sorter, box) = (Sorter(actorSystem: system), Box<Int>(actorSystem: system))
        return [
            CallPermit(
                actor: sorter,
                allowList: try CallAllowList(
                    Sorter.self, as: [$Weigher.self], arguments: [], generics: [Int.self, String.self],
                    methods: nil)
            ) { target, generics in
                if sorterMethods.contains(target) { return generics.allSatisfy(["Si", "SS"].contains) }
                return target == "$s10FuzzBodies8$WeigherC5weighSiyYaKFTE"
                    && [["10FuzzBodies8$WeigherC"], ["10FuzzBodies6SorterC"]].contains(generics)
            },
            CallPermit(
                actor: sorter,
                allowList: try CallAllowList(
                    Sorter.self, as: [], arguments: [], generics: [], methods: ["sort(_:)", "count()"])
            ) { target, generics in
                generics.isEmpty
                    && [
                        "$s10FuzzBodies6SorterC4sortySaySSGAEYaKFTE",
                        "$s10FuzzBodies6SorterC5countSiyYaKFTE",
                    ].contains(target)
            },
            CallPermit(
                actor: box,
                allowList: try CallAllowList(
                    Box<Int>.self, as: [], arguments: [Int.self], generics: [String.self], methods: nil)
            ) { target, generics in
                generics == ["Si"]
                    && [
                        "$s10FuzzBodies3BoxC3putyyxYaKFTE",
                        "$s10FuzzBodies3BoxC5clearyyYaKSLRzrlFTE",
                    ].contains(target)
            },
        ]
    }

    /// `swift-demangle` decodes them; each is also an input in `Seeds`.
    private static let sorterMethods = [
        "$s10FuzzBodies6SorterC009gre_GkaIiSiyYaKFTE",
        "$s10FuzzBodies6SorterC4pickySSxYaKSeRzSERzlFTE",
        "$s10FuzzBodies6SorterC4sortySaySSGAEYaKFTE",
        "$s10FuzzBodies6SorterC5countSiyYaKFTE",
        "$s10FuzzBodies6SorterC5weighSiyYaKFTE",
        "$s10FuzzBodies6SorterC5weighySixYaKSeRzSERzlFTE",
    ]
}
