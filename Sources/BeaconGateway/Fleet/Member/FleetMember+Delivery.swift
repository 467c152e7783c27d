import BeaconFleet
import BeaconModel

extension FleetMember {
    /// The number of messages after which the position of delivery is stored.
    private static let deliveryBatch = 100

    /// Delivers undelivered changes of the whole fleet, if this machine has that duty. They are shown here before.
    func deliver() async {
        guard configurationRevision > 0, !isDelivering, hasDuty else { return }
        isDelivering = true
        defer { isDelivering = false }
        do {
            // If the log has lost messages, wait until this machine has noticed it and gone back.
            guard let last = trail.last, try await exchange.contains(last) else { return }
            if delivered == nil {
                let number = dutyNumber
                let entry = try await exchange.entry(.delivered)
                // The fleet may not know what this machine has delivered: the answer was lost, or it was killed before.
                var own = ownDelivered
                if own == nil { own = await audience.stored(.fleetDelivered).flatMap(FleetPosition.init) }
                let shared = try await kept(entry.flatMap { FleetPosition($0.value) } ?? .start)
                own = try await kept(own ?? .start)
                guard duty != nil, number == dutyNumber else { return }
                delivered = (own.map { $0.sequence > shared.sequence ? $0 : shared } ?? shared, entry?.revision ?? 0)
            } else if let position = delivered?.position {
                delivered?.position = try await kept(position)
            }
            var count = 0
            while hasDuty, let known = delivered,
                let message = try await exchange.message(from: known.position.sequence + 1, of: nil),
                message.sequence <= followed ?? 0
            {
                // A message of a later version is left to machines of that version.
                if let transition = try? FleetTransition(message.value) {
                    guard try await canFollow(transition), await audience.deliver(transition) else { break }
                }
                let position = FleetPosition(message)
                delivered?.position = position
                ownDelivered = position
                await audience.save(position.value, for: .fleetDelivered)
                count += 1
                if count % Self.deliveryBatch == 0 { try await noteDelivered() }
            }
            if count > 0 { try await noteDelivered() }
        } catch let error as FleetError where error.code == .conflict {
            // Another machine continues to deliver; its position is read again.
            delivered = nil
        } catch {
            report("cannot deliver for the fleet at the moment: \(error); changes wait in the log")
        }
    }

    /// Returns a position, or the last one before it that the log has not lost.
    private func kept(_ position: FleetPosition) async throws -> FleetPosition {
        if try await exchange.contains(position) { return position }
        let end = min(position.sequence, lostThrough > 0 ? lostAfter : 0)
        return trail.last { $0.sequence <= end } ?? .start
    }

    private var hasDuty: Bool { duty.map { clock.now() < $0.validUntil } ?? false }

    private func noteDelivered() async throws {
        guard let delivered else { return }
        let revision = try await exchange.put(
            delivered.position.value, for: .delivered, replacing: delivered.revision)
        self.delivered?.revision = revision
    }
}
