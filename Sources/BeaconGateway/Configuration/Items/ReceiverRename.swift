import BeaconDelivery
import BeaconEngine
import BeaconEventStore
package import BeaconModel
import BeaconMonitoring
import Foundation

/// Another name for a receiver. What names the receiver in the console follows: its source, its place and what was
/// taught there, its position in the plan, and its learned offset. Stored events keep the former name.
package struct ReceiverRename: Hashable, Sendable {
    package let old: String
    package let new: String

    package init(_ old: String, to new: String) { (self.old, self.new) = (old, new) }

    /// Refuses the change if a file names the receiver, since the file would name an unknown one then.
    func check(_ base: GatewayConfiguration) throws {
        var uses: [String] = []
        if let place = base.places?.places.first(where: { $0.receivers.contains(old) }) {
            uses.append("the place \"\(place.name)\", which you can take over (Settings, Places)")
        }
        if base.places?.taught?.receiverNames.contains(old) == true { uses.append("the file of \"taught-places\"") }
        if base.calibrations.receivers[old] != nil { uses.append("the file of \"calibration\"") }
        if base.suspicions?.positions[old] != nil { uses.append("\"suspicious\" in the file") }
        guard uses.isEmpty else {
            throw ItemChange.Failure(
                code: .taken,
                description:
                    "the receiver \"\(old)\" is also named by \(uses.joined(separator: " and by ")); change that first")
        }
    }

    /// Renames the receiver in the stored plan and in the stored offsets.
    func move(in state: StateReader, _ step: inout Step) throws {
        func change<Value: Codable & Equatable>(_ key: GatewayState.Key, _ body: (inout Value) -> Void) throws {
            guard var value: Value = try state.row(GatewayState.Namespace.setting, key.rawValue)?.decoded() else {
                return
            }
            let before = value
            body(&value)
            if value != before {
                step.changes.append(try StateChange(GatewayState.Namespace.setting, key.rawValue, value))
            }
        }
        try change(.plan) { (plan: inout BuildingPlan) in
            if let point = plan.receivers.removeValue(forKey: old) { plan.receivers[new] = point }
        }
        try change(.offsets) { (learner: inout OffsetLearner) in learner.rename(receiver: old, to: new) }
    }
}

extension SourceSettings {
    /// Returns this source's settings with another name for a receiver; nil if they can only name another one.
    ///
    /// - Parameters:
    ///   - key: the key of the name; nil for a receiver of this machine.
    ///   - isOnly: true if the source has no other receiver.
    package func settings(
        _ settings: JSONValue, naming receiver: String?, _ name: String, isOnly: Bool
    ) -> JSONValue? {
        guard case .object(var values) = settings else { return nil }
        if let receiver, self.receiver == nil {
            var names: [String: JSONValue] = [:]
            if case .object(let known)? = values["receivers"] { names = known }
            names[receiver] = .string(name)
            values["receivers"] = .object(names)
        } else {
            guard isOnly else { return nil }
            values["receiver"] = .string(name)
        }
        return .object(values)
    }
}

extension ConfigurationItem {
    /// This item with the new name of a receiver.
    ///
    /// A place whose id in Home Assistant is made from the receiver gets that id.
    func following(_ rename: ReceiverRename) -> ConfigurationItem {
        guard case .object(var values) = settings else { return self }
        func renamed(_ list: JSONValue?) -> JSONValue? {
            guard case .array(let names)? = list, names.contains(.string(rename.old)) else { return nil }
            return .array(names.map { $0 == .string(rename.old) ? .string(rename.new) : $0 })
        }
        switch kind {
        case .place:
            guard let receivers = renamed(values["receivers"]) else { return self }
            if case .place(let place)? = value, place.id == nil, place.receivers.first == rename.old,
                rename.old.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil
            {
                values["id"] = .string(rename.old)
            }
            values["receivers"] = receivers
        case .source:
            guard let moves = renamed(values["moves"]) else { return self }
            values["moves"] = moves
        case .taught:
            guard case .taught(var teaching)? = value else { return self }
            for walk in teaching.walks.indices {
                teaching.walks[walk].points = teaching.walks[walk].points.map { point in
                    Dictionary(point.map { ($0 == rename.old ? rename.new : $0, $1) }) { first, _ in first }
                }
            }
            var item = (try? teaching.item()) ?? self
            item.order = order
            return item
        case .beacon, .region, .destination, .rule: return self
        }
        return ConfigurationItem(kind: kind, name: name, settings: .object(values), origin: origin, order: order)
    }
}
