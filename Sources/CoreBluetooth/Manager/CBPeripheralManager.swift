internal import BeaconRadio
internal import BeaconService

/// The object through which an app advertises: the device becomes a beacon.
///
/// Callbacks come on the queue that the manager is made with. Commands are accepted in
/// ``CBManagerState/poweredOn`` only; in other states they are dropped, and a line that begins with `API MISUSE` is logged.
/// Two things differ from Apple's systems, since listings of Apple's documents rely on them:
///
/// - A start while the state is still ``CBManagerState/unknown``, as right after `init`, is held and carried out once the
///   state is known to be ``CBManagerState/poweredOn``.
/// - While a start is held, and from a start until ``stopAdvertising()`` or until advertising has ended by itself, the manager
///   is kept alive, so that it need not be stored anywhere. Its delegate is not kept.
///
/// Advertising pauses while the radio is in ``CBManagerState/resetting`` or ``CBManagerState/unknown``, and resumes with it.
/// In ``CBManagerState/poweredOff``, ``CBManagerState/unsupported`` and ``CBManagerState/unauthorized`` it is over and must be
/// started again. Otherwise it goes on until it is stopped or the process ends: there is no background here in which a
/// process would send less.
///
/// The radio sends iBeacon frames and nothing else. There is no server of attributes: services can be made, but not be
/// published, and whoever tries is told so.
open class CBPeripheralManager: CBManager {
    private let advertiser: Advertiser
    private let delegates: DelegateBox<any CBPeripheralManagerDelegate>

    /// The object that is told of events. It is not kept alive.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { delegates.delegate }
        set { delegates.delegate = newValue }
    }

    /// A manager whose callbacks come on the main queue, to a delegate that is still to be set.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager that tells a delegate, on a queue or, if that is nil, on the main queue.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager that tells a delegate.
    ///
    /// - Parameters:
    ///   - delegate: is told the state once it is known, and from then on what happens.
    ///   - queue: where callbacks are made; nil for the main queue.
    ///   - options: without effect here: nobody is alerted, and nothing is restored.
    public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        let core = ManagerCore(center: .current, queue: queue)
        delegates = DelegateBox(delegate)
        advertiser = Advertiser(center: core.center, context: core.context)
        super.init(core: core)
        let reference = WeakReference(self)
        core.begin { state in reference.object?.radioDidChange(to: state) }
    }

    private func radioDidChange(to state: RadioState) {
        if advertiser.radioDidChange(to: state) { BluetoothLog.misuse(of: self) }
        delegate?.peripheralManagerDidUpdateState(self)
        // After the delegate, which may have stopped it or made a start of its own.
        advertiser.startHeld()
    }

    // MARK: - Authorization

    /// Whether the app may share data.
    @available(*, deprecated, message: "Use CBManager.authorization.")
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        authorization == .denied ? .denied : .authorized
    }

    // MARK: - Advertising

    /// Whether the device advertises: after a start has succeeded, until it is stopped; not while it is paused.
    open var isAdvertising: Bool { advertiser.isSending }

    /// Begins to advertise. `peripheralManagerDidStartAdvertising(_:error:)` tells how it went.
    ///
    /// It fails with ``CBError/alreadyAdvertising`` where this manager advertises already, and with
    /// ``CBError/invalidParameters`` where the dictionary holds nothing that can be sent. What the radio cannot do is
    /// ``CBError/operationNotSupported``, any other failure of it ``CBError/unknown``; both carry the radio's own words. Should
    /// the radio become unable to go on, the same callback tells it.
    ///
    /// - Parameter advertisementData: the dictionary of `CLBeaconRegion.peripheralData(withMeasuredPower:)`. Names and services
    ///   are not sent; they and keys that mean nothing are logged and left out.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let advertisement = Advertisement(advertisementData ?? [:])
        let outcome = advertiser.start(advertisement.frame, for: SentManager(manager: self))
        if case .misuse = outcome { return BluetoothLog.misuse(of: self) }
        for remark in advertisement.remarks { BluetoothLog.warn(self, remark) }
        guard case .refused(let code) = outcome else { return }
        answer { $0.delegate?.peripheralManagerDidStartAdvertising($0, error: CBError(code)) }
    }

    /// Stops advertising, also a start that is held, and lets go of the manager.
    open func stopAdvertising() {
        if !advertiser.stop() { BluetoothLog.misuse(of: self) }
    }

    // MARK: - Attributes, which are not served

    /// Asks to publish a service; `peripheralManager(_:didAdd:error:)` tells that it cannot be.
    open func add(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        let sent = SentService(service: service)
        answer { $0.delegate?.peripheralManager($0, didAdd: sent.service, error: Self.noServer) }
    }

    /// Takes a service back; none is published.
    open func remove(_ service: CBMutableService) { _ = acceptsCommands() }

    /// Takes all services back; none is published.
    open func removeAllServices() { _ = acceptsCommands() }

    /// Answers a request; none ever comes.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { _ = acceptsCommands() }

    /// Sends a value to centrals that asked for it; none ever does.
    ///
    /// - Returns: false, since nothing is sent.
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        _ = acceptsCommands()
        return false
    }

    /// Asks for quick answers to a central; none ever connects.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        _ = acceptsCommands()
    }

    /// Asks to offer a channel; `peripheralManager(_:didPublishL2CAPChannel:error:)` tells that it cannot be.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard acceptsCommands() else { return }
        answer { $0.delegate?.peripheralManager($0, didPublishL2CAPChannel: 0, error: Self.noServer) }
    }

    /// Takes a channel back; `peripheralManager(_:didUnpublishL2CAPChannel:error:)` tells that there is none.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard acceptsCommands() else { return }
        answer { $0.delegate?.peripheralManager($0, didUnpublishL2CAPChannel: PSM, error: Self.noServer) }
    }

    private static var noServer: CBError {
        CBError(
            .operationNotSupported,
            userInfo: [NSLocalizedDescriptionKey: "Services and channels cannot be published here, only beacons."])
    }

    /// Answers a command where callbacks are made. The manager is kept until then.
    private func answer(_ call: @escaping @Sendable (CBPeripheralManager) -> Void) {
        let sent = SentManager(manager: self)
        core.makeCallback { call(sent.manager) }
    }
}
