package import MultipeerCore

/// Interfaces that appear, change and disappear.
extension Responder {
    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {
        guard let interface = interfaces[scope.id] else { return begin(on: scope, at: now) }
        let old = interface.scope
        guard old != scope else { return }
        interfaces[scope.id]?.change(to: scope)
        if Set(old.addresses.map(\.bytes)) != Set(scope.addresses.map(\.bytes)) {
            addressesChanged(from: old, to: scope, at: now)
        }
        if !scope.families.isSubset(of: old.families) {
            for id in local.ids where local[id]?.isEstablished(on: scope.id) == true {
                set(.announcing(Registration.Steps(next: now)), of: id, on: scope.id)
            }
        }
        advance(to: now)
    }

    package mutating func scopeGone(_ id: UInt32, at now: Moment) {
        guard let interface = interfaces.removeValue(forKey: id) else { return }
        remember(interface.scope.addresses.map(\.bytes))
        goodbyes.removeAll { $0.scope == id }
        for advert in local.ids {
            local.set(nil, of: advert, on: id)
            tellIfRegistered(advert)
        }
    }

    private mutating func begin(on scope: Scope, at now: Moment) {
        interfaces[scope.id] = ResponderInterface(scope)
        for id in local.ids { start(id, on: scope.id, at: now) }  // [mdns.scope]
        advance(to: now)
    }

    private mutating func addressesChanged(from old: Scope, to new: Scope, at now: Moment) {
        remember(old.addresses.map(\.bytes))
        interfaces[new.id]?.forgetHost()
        cancelGoodbyes()
        guard local.isHostKnown(on: new.id) else { return }
        for family in Family.allCases where new.addresses(of: family).isEmpty {
            // The flush bit replaces records of the same type only: the addresses of a family that disappeared are
            // withdrawn. [mdns.goodbye]
            sayGoodbye(local.addressRecords(of: family, on: old), on: new.id, at: now)
        }
        interfaces[new.id]?.announcing = Registration.Steps(next: now)
        nextStep = now
    }

    private mutating func remember(_ addresses: [[UInt8]]) {
        formerAddresses = (formerAddresses.filter { !addresses.contains($0) } + addresses).suffix(64)
    }
}
