import Distributed
import Foundation
import Multipeer
import MultipeerActors

/// Carries out what a survey decides: gives tiles to observatories, here and elsewhere, and takes their answers.
///
/// All events come in one sequence, in order, and are handled here one after the other.
actor Campaign {
    typealias Order = Survey<ActorID>.Order

    enum Event: Sendable {
        case arrived(Observatory)
        case left(ActorID)
        case answered(Order, Survey<ActorID>.Outcome, Duration)
        /// The observatory of the order can no longer be called.
        case lost(Order, String)
        /// A worker's process has ended.
        case ended(String)
        /// Something for standard error.
        case complaint(String)
        case failed(any Error)
        case tick
    }

    /// Why there is no result, in one line.
    struct Failure: Error { let text: String }

    private let plan: Plan
    private let station: Station
    private let crew: Crew
    private let events: AsyncStream<Event>
    private let telling: AsyncStream<Event>.Continuation
    private var observatories: [ActorID: Observatory]
    private var survey: Survey<ActorID>
    private var view = View()
    private var begun: ContinuousClock.Instant?
    private var failure: Failure?

    init(_ plan: Plan, _ station: Station, _ crew: Crew) {
        (self.plan, self.station, self.crew) = (plan, station, crew)
        (events, telling) = AsyncStream.makeStream()
        observatories = [station.observatory.id: station.observatory]
        survey = Survey(tiles: plan.tiles, home: station.observatory.id)
    }

    /// Waits for the others, goes through all tiles, and returns what was found and how long that took.
    func run() async throws -> (survey: Survey<ActorID>, time: Duration) {
        let start = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            watch(in: &group)
            proceed(in: &group)
            for await event in events where !survey.isOver {
                note(event)
                proceed(in: &group)
                if survey.isOver || failure != nil { break }
            }
            group.cancelAll()
        }
        view.end(survey)
        telling.finish()
        for await case .complaint(let text) in events { Terminal.complain(text) }
        if let failure { throw failure }
        return (survey, (begun ?? start).duration(to: .now))
    }

    /// The names of the sites whose link has ended.
    var lost: Set<String> { Set(survey.tallies.filter(\.isLost).map(\.site.peer.displayName)) }

    // MARK: events

    private func watch(in group: inout DiscardingTaskGroup) {
        let (telling, station, plan) = (telling, station, plan)
        group.addTask { [crew] in
            for await event in crew.events {
                switch event {
                case .ended(let name): telling.yield(.ended(name))
                case .said(let text): telling.yield(.complaint(text))
                }
            }
        }
        group.addTask {
            for await change in station.system.receptionist.changes(of: Observatory.self, as: Observatory.key)
            {
                switch change {
                case .arrived(let observatory): telling.yield(.arrived(observatory))
                case .left(let id): telling.yield(.left(id))
                }
            }
        }
        group.addTask {
            do {
                if plan.people > 0 { try await station.gather { telling.yield(.complaint($0)) } }
            } catch {
                telling.yield(.failed(error))
            }
        }
        group.addTask {
            // When cancelled, the campaign has finished in time.
            guard (try? await Task.sleep(for: plan.timeLimit)) != nil else { return }
            telling.yield(.failed(Failure(text: "not done within \(plan.timeLimit)")))
        }
        guard view.isLive else { return }
        group.addTask {
            while (try? await Task.sleep(for: .milliseconds(100))) != nil { telling.yield(.tick) }
        }
    }

    private func note(_ event: Event) {
        switch event {
        case .arrived(let observatory): welcome(observatory)
        case .left(let id):
            if observatories[id] != nil { lose(id, survey.lose(id), "its link has ended") }
        case .lost(let order, let why):
            if let count = survey.loseSite(of: order) { lose(order.site, count, why) }
        case .answered(let order, let outcome, let time): take(outcome, order, time)
        case .ended(let name):
            if begun == nil { failure = Failure(text: "\(name) ended before the work began") }
        case .failed(let error):
            failure = error as? Failure ?? Failure(text: "cannot find peers: \(error)")
        case .complaint(let text): view.complain(text)
        case .tick: break
        }
        view.show(survey)
    }

    private func welcome(_ observatory: Observatory) {
        guard observatory.id != station.observatory.id else { return }
        observatories[observatory.id] = observatory
        survey.join(observatory.id)
        view.say("\(observatory.id.peer.name) joined")
    }

    private func lose(_ id: ActorID, _ count: Int, _ why: String) {
        observatories[id] = nil
        view.say("\(id.peer.name) was lost, \(count) tiles are reassigned: \(why)")
    }

    private func take(_ outcome: Survey<ActorID>.Outcome, _ order: Order, _ time: Duration) {
        let who = "tile \(order.tile), \(order.site.peer.name)"
        switch survey.take(outcome, of: order.number, after: time) {
        case .counted(let findings):
            view.detail("\(who): \(findings.stars.count) stars, \(time.milliseconds) ms")
            if survey.findings.count == plan.killsAfter { crew.killOne() }
        case .repeats(let why): view.say("\(who): \(why); retrying here")
        case .gaveUp(let why): view.say("\(who): \(why); giving up")
        case .late: break
        }
    }

    // MARK: actions

    private func proceed(in group: inout DiscardingTaskGroup) {
        if begun == nil {
            guard observatories.count > plan.people else { return }
            begun = .now
            view.say("\(plan.tiles) tiles for \(observatories.count) observatories")
        }
        while let order = survey.next() {
            guard let observatory = observatories[order.site] else { continue }
            group.addTask { [plan, telling] in
                let work = { @Sendable in await Campaign.carryOut(order, at: observatory, plan) }
                telling.yield(order.isUrgent ? await Campaign.hurry(work) : await work())
            }
        }
    }

    /// Runs work with high priority. A task of a group has the priority of the task that runs the group, whatever
    /// priority it is created with.
    private static func hurry(_ work: @escaping @Sendable () async -> Event) async -> Event {
        let task = Task(priority: .high) { await work() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Takes the picture, and has it scanned: the call is the same for a local and a remote observatory.
    private static func carryOut(_ order: Order, at observatory: Observatory, _ plan: Plan) async -> Event {
        let task = plan.task(for: order.tile, attempt: order.attempt)
        let start = ContinuousClock.now
        do {
            let findings = try await PeerActorSystem.withTimeout(plan.timeout) {
                try await observatory.scan(task)
            }
            return .answered(order, .found(findings), start.duration(to: .now))
        } catch let error as ActorCallError where error.isLoss {
            return .lost(order, "\(error)")
        } catch {
            return .answered(order, .failed("\(error)"), start.duration(to: .now))
        }
    }
}

extension ActorCallError {
    /// Whether the actor cannot be called again.
    fileprivate var isLoss: Bool {
        [.notConnected, .ended, .replaced, .noSystem, .incompatible, .noSuchActor].contains(code)
    }
}

extension Duration {
    var milliseconds: Int { Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) }
}
