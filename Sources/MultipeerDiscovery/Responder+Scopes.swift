package import MultipeerCore

/// Interfaces come, change and go.
extension Responder {
    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {
        guard let station = stations[scope.id] else { return begin(on: scope, at: now) }
        let old = station.scope
        guard old != scope else { return }
        stations[scope.id]?.scope = scope
        let silent = old.families.subtracting(scope.families)
        let loud = scope.families.subtracting(old.families)
        for family in silent { stations[scope.id]?.voices[family] = nil }
        for family in loud { stations[scope.id]?.voices[family] = Voice() }
        if Set(old.addresses.map(\.bytes)) != Set(scope.addresses.map(\.bytes)) {
            addressesChanged(from: old, to: scope, at: now)
        }
        if !loud.isEmpty {
            for id in claims.keys.sorted() where claims[id]?.isEstablished(on: scope.id) == true {
                set(.announcing(Claim.Steps(next: now)), of: id, on: scope.id)
            }
        }
        advance(to: now)
    }

    package mutating func scopeGone(_ id: UInt32, at now: Moment) {
        guard let station = stations.removeValue(forKey: id) else { return }
        remember(station.scope.addresses.map(\.bytes))
        farewells.removeAll { $0.scope == id }
        for advert in claims.keys.sorted() {
            claims[advert]?.phases[id] = nil
            tellIfRegistered(advert)
        }
    }

    private mutating func begin(on scope: Scope, at now: Moment) {
        var station = Station(scope: scope)
        for family in scope.families { station.voices[family] = Voice() }
        stations[scope.id] = station
        for id in claims.keys.sorted() { start(id, on: scope.id, at: now) }  // [mdns.scope]
        advance(to: now)
    }

    private mutating func addressesChanged(from old: Scope, to new: Scope, at now: Moment) {
        remember(old.addresses.map(\.bytes))
        for family in Family.allCases { stations[new.id]?.voices[family]?.forgetHost() }
        cancelFarewells()
        guard isHostKnown(on: new.id) else { return }
        for family in Family.allCases where new.addresses(of: family).isEmpty {
            // The flush bit replaces records of the same type only: a family that went away is taken back. [mdns.goodbye]
            sayGoodbye(addressRecords(of: family, on: old), on: new.id, at: now)
        }
        stations[new.id]?.announcing = Claim.Steps(next: now)
        nextStep = now
    }

    /// Whether anybody was told of the host on that interface.
    private func isHostKnown(on scope: UInt32) -> Bool {
        claims.values.contains { $0.isEstablished(on: scope) }
    }

    private mutating func remember(_ addresses: [[UInt8]]) {
        formerAddresses = (formerAddresses.filter { !addresses.contains($0) } + addresses).suffix(64)
    }
}
