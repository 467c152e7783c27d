internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSimulation
internal import Foundation

/// The simulated air that the processes of a user share, for an app that walks about in it.
///
/// An app is in it with `BEACON_SOURCE=air[:NAME][@X,Y]`: it hears what other processes send, and they hear it, each at
/// its own place. Time is the real one. For tests in virtual time there is ``SimulatedAir``.
///
/// ```swift
/// try SharedAir.move(to: Position(x: 3, y: 0), speed: 1.4)
/// ```
public enum SharedAir {
    /// An error of the shared air, with its remedy.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The cause and the remedy, in a sentence or two.
        public let message: String

        /// The message.
        public var description: String { message }
    }

    /// The place of this process in the air; nil where it is not in it, or not so far: an app is there once it has a
    /// manager.
    public static var position: Position? {
        guard let air = try? station(), let place = own(air).first?.place else { return nil }
        return Position(x: place.x, y: place.y)
    }

    /// Moves this process to another place.
    ///
    /// - Parameters:
    ///   - position: the place.
    ///   - speed: the metres a second at which it walks there; nil to be there at once. People walk 1.4 m/s.
    /// - Throws: ``Failure`` where this process is not in a shared air, or its folder cannot be written.
    public static func move(to position: Position, speed: Double? = nil) throws(Failure) {
        do throws(RadioError) {
            let air = try station()
            let members = own(air)
            guard !members.isEmpty else {
                throw RadioError(
                    .failed, "this process is not in the air; set BEACON_SOURCE=air, and make a manager first")
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
            throw RadioError(.unsupported, "this process is in no shared air; set BEACON_SOURCE=air")
        }
        return AirStation(lookingAt: try AirFolder(name: location.name), at: now)
    }

    private static var now: Int64 { RadioClock.sinceStart(RadioClock.now()) }
}
