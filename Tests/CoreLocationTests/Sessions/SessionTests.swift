import BeaconApplications
import BeaconMonitoring
import CoreLocation
import Testing

@Suite("Sessions")
struct SessionTests {
    private func session(
        _ requirement: CLServiceSession.AuthorizationRequirement, _ center: BeaconCenter
    ) -> CLServiceSession {
        BeaconCenter.withCurrent(center) {
            CLServiceSession(authorization: requirement, fullAccuracyPurposeKey: "museum")
        }
    }

    @Test(
        "A service session requests its authorization",
        arguments: [AuthorizationStatus.notDetermined, .whenInUse, .always])
    func asks(expected: AuthorizationStatus) async throws {
        let bench = await MonitorBench(status: .notDetermined)
        let requirement: CLServiceSession.AuthorizationRequirement =
            switch expected {
            case .whenInUse: .whenInUse
            case .always: .always
            default: .none
            }
        let session = session(requirement, bench.center)
        var diagnostics = session.diagnostics.makeAsyncIterator()
        let first = try #require(try await diagnostics.next())
        #expect(bench.center.snapshot.authorization == expected)
        #expect(!first.authorizationDenied && !first.alwaysAuthorizationDenied && !first.authorizationRequestInProgress)
        session.invalidate()
    }

    @Test("A service session reports its obstacles, each change, until it ends")
    func diagnostics() async throws {
        let bench = await MonitorBench(status: .always)
        let session = session(.always, bench.center)
        var diagnostics = session.diagnostics.makeAsyncIterator()
        #expect(try await diagnostics.next()?.alwaysAuthorizationDenied == false)
        await bench.center.setStatus(.whenInUse)
        let less = try #require(try await diagnostics.next())
        #expect(less.alwaysAuthorizationDenied && !less.authorizationDenied)
        await bench.center.setStatus(.denied)
        #expect(try await diagnostics.next()?.authorizationDenied == true)
        await bench.center.setStatus(.restricted)
        #expect(try await diagnostics.next()?.authorizationRestricted == true)
        // A later listener receives the present state.
        var late = session.diagnostics.makeAsyncIterator()
        #expect(try await late.next()?.authorizationRestricted == true)
        session.invalidate()
        session.invalidate()
        #expect(try await diagnostics.next() == nil)
        #expect(try await late.next() == nil)
        var after = session.diagnostics.makeAsyncIterator()
        #expect(try await after.next() == nil)
    }

    @Test("A session that is released ends")
    func released() async throws {
        let bench = await MonitorBench(status: .always)
        var session: CLServiceSession? = session(.whenInUse, bench.center)
        var diagnostics = try #require(session).diagnostics.makeAsyncIterator()
        #expect(try await diagnostics.next() != nil)
        session = nil
        #expect(try await diagnostics.next() == nil)
    }

    @Test("A background session requests nothing and reports its obstacles")
    func background() async throws {
        let bench = await MonitorBench(status: .notDetermined)
        let session = BeaconCenter.withCurrent(bench.center) { CLBackgroundActivitySession() }
        var diagnostics = session.diagnostics.makeAsyncIterator()
        #expect(try await diagnostics.next()?.authorizationDenied == false)
        #expect(bench.center.snapshot.authorization == .notDetermined)
        await bench.center.setStatus(.denied)
        #expect(try await diagnostics.next()?.authorizationDenied == true)
        session.invalidate()
        #expect(try await diagnostics.next() == nil)
    }
}
