import BeaconModel
import BeaconRadio
import CBluetooth
import CLibrary

extension HCIDriver {
    func read(_ socket: HCISocket, at now: Timestamp, into batch: inout AdvertBatch) {
        let receiver = batch.firstReceiver
        var hasHeard = false
        defer { if hasHeard { session.heard(at: now) } }
        do throws(HCISystemError) {
            for _ in 0..<Self.maximumBatches {
                // One clock sample per batch: the clocks do not drift apart in so short a time.
                let ahead = RadioClock.wallAhead()
                let hasMore = try socket.read { packet, wall in
                    guard packet.byteCount >= 4 else { return }
                    guard packet[0] == UInt8(BEACON_HCI_EVENT) else {
                        if let command = HCICommand(packet: packet) {
                            session.receive(othersCommand: command, at: now)
                        }
                        return
                    }
                    let event = packet.extracting(1..<packet.byteCount)
                    var reports = HCIAdvertisingReportCursor(event: event)
                    guard let first = reports.next(in: event) else { return session.receive(event: event, at: now) }
                    hasHeard = true
                    let time = wall.map { self.time(ofWall: $0, ahead: ahead, now: now) } ?? now
                    var found: HCIAdvertisingReport? = first
                    while let report = found {
                        session.heardAdvert(at: now)
                        let reception = Reception(time: time, receiver: receiver, report: report.report)
                        if report.report.kind == .extended {
                            // Behind a filter, the last piece of an advert arrives only if a beacon is in that piece.
                            assembler.add(report, of: event, from: receiver, isImpatient: filtering != nil) {
                                batch.hear(reception, $0)
                            }
                        } else {
                            batch.hear(reception, event.extracting(report.offset..<report.offset + report.count))
                        }
                        found = reports.next(in: event)
                    }
                }
                // Later packets were received later.
                if !hasMore {
                    drained = now
                    return
                }
            }
        } catch {
            if error.isAbsence { lose() }
        }
    }

    /// Returns the time of a packet by the radio's clock. The result lies between the last time that the socket was
    /// empty and now, even if the wall clock was set in between.
    private func time(ofWall wall: Int64, ahead: Int64, now: Timestamp) -> Timestamp {
        let time = min(max(RadioClock.time(ofWall: wall, ahead: ahead), drained), now)
        drained = time
        return time
    }

    func read(adapterEvents: HCISocket, at now: Timestamp) {
        _ = try? adapterEvents.read { packet, _ in
            guard let item = AdapterEvent(packet: packet) else { return }
            switch item.kind {
            case .removed where item.adapter == index: lose()
            // An adapter that is being removed is switched off first, and can no longer be queried.
            case .wentOff where item.adapter == index && (try? LocalAdapter(index: index)) == nil: lose()
            case .wentOff where item.adapter == index:
                session.wentOff(isBlocked: LocalAdapter.isBlocked(index: index), at: now)
            case .cameOn where item.adapter == index && socket != nil: session.cameOn(at: now)
            case .added, .cameOn: if socket == nil { search(at: now) }
            default: break
            }
        }
    }

    func lose() {
        guard let socket else { return }
        beacon_group_remove(descriptor, socket.descriptor)
        self.socket = nil
        session.adapterRemoved()
    }

    /// Searches for the adapter by the user's name for it.
    func search(at now: Timestamp) {
        guard let adapter = (try? LocalAdapter.all())?.first(where: { $0.isNamed(named) }),
            let socket = try? HCISocket(adapter: adapter.index)
        else { return }
        beacon_group_add(descriptor, socket.descriptor)
        self.socket = socket
        index = adapter.index
        dropped = 0
        session.name = adapter.name
        protection.move(to: adapter)
        filtering = nil
        requestedMode = requestedMode ?? mode
        inherit()
        session.begin(isOn: adapter.isUp, at: now)
    }

    /// Takes over the adverts and scans of dead processes, and leaves those of running ones alone.
    func inherit() {
        session.inherit(protection.abandoned())
        session.leave(protection.setsInUse())
    }
}
