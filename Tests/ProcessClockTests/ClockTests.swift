import BeaconTestKit
import CoreLocation
import Dispatch
import Foundation
import Testing

@Suite("An air controls the process's clock", .serialized)
struct ProcessClockTests {
    @Test("Sleeps end")
    func sleeps() async {
        let air = SimulatedAir(controlsTime: true)
        #expect(air.controlsTime)
        let start = air.now
        #expect(Date() == start)
        let notes = Log()
        Task { try? await Task.sleep(for: .seconds(2)); notes.note("for") }
        Task { try? await Task.sleep(nanoseconds: 3_000_000_000); notes.note("nano") }
        Task { try? await Task.sleep(until: .now + .seconds(4), clock: .continuous); notes.note("continuous") }
        Task { try? await Task.sleep(until: .now + .seconds(5), clock: .suspending); notes.note("suspending") }
        Task { @MainActor in try? await Task.sleep(for: .seconds(6)); notes.note("main") }
        DispatchQueue.main.asyncAfter(deadline: .now() + 7) { notes.note("after main") }
        DispatchQueue.global().asyncAfter(wallDeadline: .now() + 8) { notes.note("after wall") }
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "q"))
        source.schedule(deadline: .now() + 1.5, repeating: 3)
        source.setEventHandler { notes.note("source") }
        source.resume()
        await MainActor.run { _ = Timer.scheduledTimer(withTimeInterval: 4.5, repeats: true) { _ in notes.note("timer \(Thread.isMainThread)") } }
        DispatchQueue.global().async {
            let r = DispatchSemaphore(value: 0).wait(timeout: .now() + 5.5)
            notes.note("sem \(r)")
        }
        DispatchQueue.global().async {
            let condition = NSCondition()
            condition.lock()
            let r = condition.wait(until: Date(timeIntervalSinceNow: 6.5))
            condition.unlock()
            notes.note("cond \(r)")
        }
        DispatchQueue.global().async {
            Thread.sleep(forTimeInterval: 7.5)
            notes.note("thread")
        }
        Thread.detachNewThread {
            _ = Timer.scheduledTimer(withTimeInterval: 1000, repeats: false) { _ in }
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 8.5))
            notes.note("loop")
        }
        let k = DispatchTime.now()
        await air.advance(by: .seconds(10))
        print(notes.entries)
        #expect((Double(DispatchTime.now().uptimeNanoseconds - k.uptimeNanoseconds) / 1e9) == 10)
        #expect(Date().timeIntervalSince(start) == 10)
        source.cancel()
    }
}

