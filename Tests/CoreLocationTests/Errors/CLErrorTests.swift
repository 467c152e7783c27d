import CoreLocation
import Testing

@Suite struct CLErrorTests {
    @Test("The codes have the numbers of Apple's header, under both names")
    func codes() {
        let all: [CLError.Code] = [
            .locationUnknown, .denied, .network, .headingFailure, .regionMonitoringDenied, .regionMonitoringFailure,
            .regionMonitoringSetupDelayed, .regionMonitoringResponseDelayed, .geocodeFoundNoResult,
            .geocodeFoundPartialResult, .geocodeCanceled, .deferredFailed, .deferredNotUpdatingLocation,
            .deferredAccuracyTooLow, .deferredDistanceFiltered, .deferredCanceled, .rangingUnavailable,
            .rangingFailure, .promptDeclined, .historicalLocationError,
        ]
        #expect(all.map(\.rawValue) == Array(0...19))
        #expect(CLError.Code(rawValue: 20) == nil)
        // The static members of the struct are the codes.
        let names: [CLError.Code] = [
            CLError.locationUnknown, CLError.denied, CLError.network, CLError.headingFailure,
            CLError.regionMonitoringDenied, CLError.regionMonitoringFailure, CLError.regionMonitoringSetupDelayed,
            CLError.regionMonitoringResponseDelayed, CLError.geocodeFoundNoResult, CLError.geocodeFoundPartialResult,
            CLError.geocodeCanceled, CLError.deferredFailed, CLError.deferredNotUpdatingLocation,
            CLError.deferredAccuracyTooLow, CLError.deferredDistanceFiltered, CLError.deferredCanceled,
            CLError.rangingUnavailable, CLError.rangingFailure, CLError.promptDeclined,
            CLError.historicalLocationError,
        ]
        #expect(names == all)
    }

    @Test("An error is caught by its code")
    func patternsMatch() throws {
        func fail(_ error: any Error) throws { throw error }
        do {
            try fail(CLError(.denied))
            Issue.record("no error was thrown")
        } catch CLError.denied {
        } catch {
            Issue.record("\(error) is not caught by its code")
        }
        do {
            try fail(CLError(.network))
        } catch CLError.denied {
            Issue.record("was caught by another code")
        } catch let error as CLError {
            #expect(error.code == .network)
        }
    }

    @Test("An error has its code, domain and user info as any error and as NSError")
    func seenAsAnyError() throws {
        let error: any Error = CLError(.rangingUnavailable, userInfo: ["why": "no radio"])
        #expect((error as? CLError)?.code == .rangingUnavailable)
        let plain = error as NSError
        #expect(plain.code == 16)
        #expect(plain.domain == kCLErrorDomain)
        #expect(plain.userInfo["why"] as? String == "no radio")
        let own = try #require(error as? CLError)
        #expect(own.errorCode == 16)
        #expect(own.errorUserInfo["why"] as? String == "no radio")
        #expect(own.userInfo["why"] as? String == "no radio")
        #expect(error.localizedDescription.contains("kCLErrorDomain"))
    }

    @Test("The domain is the same as the constant's name")
    func domains() {
        #expect(kCLErrorDomain == "kCLErrorDomain")
        #expect(CLError.errorDomain == kCLErrorDomain)
    }

    @Test("Errors are compared and hashed by value")
    func comparedByValue() {
        #expect(CLError(.denied) == CLError(.denied))
        #expect(CLError(.denied) != CLError(.network))
        #expect(Set([CLError(.denied), CLError(.denied), CLError(.network)]).count == 2)
        #expect(CLError.Code.denied ~= (CLError(.denied) as any Error))
    }

    @Test("The alternate region is read from the user info")
    func alternateRegion() {
        let region = CLBeaconRegion(uuid: UUID(), identifier: "near")
        #expect(CLError(.denied).alternateRegion == nil)
        let error = CLError(
            .regionMonitoringResponseDelayed, userInfo: [kCLErrorUserInfoAlternateRegionKey: region])
        #expect(error.alternateRegion === region)
    }

    /// A limitation, and the reason why these modules never return a plain `NSError`.
    @Test("A plain NSError with the domain is not a CLError outside Apple's systems, a known limitation")
    func plainErrorsAreNotConverted() {
        #if !canImport(ObjectiveC)
            let bare: any Error = NSError(domain: kCLErrorDomain, code: 16)
            #expect(bare as? CLError == nil)
        #endif
    }
}
