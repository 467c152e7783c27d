internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSimulation
internal import Foundation

/// The simulated air that the processes of a user share, for an app that moves in it.
///
/// An app joins it with `BEACON_SOURCE=air[:NAME][@X,Y]`. It hears the adverts of other processes, and they hear its
/// adverts, each at its own position. Time passes in real time. For tests in virtual time, use ``SimulatedAir``.
///
/// ```swift
/// try SharedAir.move(to: Position(x: 3, y: 0), speed: 1.4)
/// ```
public enum SharedAir {
    /// An error of the shared air, with its remedy.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The problem and its remedy.
        public let message: String

        /// The message.
        public var description: String { message }
    }

    /// The position of this process in the air; nil if it is not in the air. An app enters the air when it creates its
    /// first manager.
    public static var position: Position? {
        guard let air = try? station(), let place = own(air).first?.place else { return nil }
        return Position(x: place.x, y: place.y)
    }

    /// Moves this process to another position.
    ///
    /// - Parameters:
    ///   - position: the new position.
    ///   - speed: the walking speed in meters per second; nil to move at once. People walk at 1.4 m/s.
    /// - Throws: ``Failure`` if this process is not in a shared air, or the air's folder cannot be written.
    public static func move(to position: Position, speed: Double? = nil) throws(Failure) {
        do throws(RadioError) {
            let air = try station()
            let members = own(air)
            guard !members.isEmpty else {
                throw RadioError(
                    .failed, "this process is not in the air; set BEACON_SOURCE=air, and create a manager first")
            }
            for member in members { try air.move(member.id, to: position.point, speed: speed, at: now) }
        } catch {
            throw Failure(message: error.message)
        }
    }

    private static func own(_ air: AirStation) -> [AirMemberStatus] {
        air.members(at: now).filter { $0.process == Int(getpid()) && $0.place != nil }
    }

    private static func station() throws(RadioError) -> AirStation {
        let source = SourceSpecification(ProcessInfo.processInfo.environment["BEACON_SOURCE"] ?? "auto")
        guard let location = try source.airLocation else {
            throw RadioError(.unsupported, "this process is not in a shared air; set BEACON_SOURCE=air")
        }
        return AirStation(lookingAt: try AirFolder(name: location.name), at: now)
    }

    private static var now: Int64 { RadioClock.sinceStart(RadioClock.now()) }
}
