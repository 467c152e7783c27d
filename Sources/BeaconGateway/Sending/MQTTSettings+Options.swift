import BeaconMQTT

extension MQTTSettings {
    /// The settings in the words of the connection.
    var options: MQTTOptions {
        var options = MQTTOptions()
        options.host = host
        options.port = port.map { UInt16($0) }
        options.version = version == .v5 ? .v5 : .v3_1_1
        if let clientID { options.clientID = clientID }
        options.user = user
        options.password = password
        if let tls {
            var files = MQTTTLSOptions()
            files.authorityFile = tls.authorityFile
            files.certificateFile = tls.certificateFile
            files.keyFile = tls.keyFile
            options.tls = files
        }
        if let keepAlive { options.keepAlive = keepAlive }
        if let baseTopic { options.baseTopic = baseTopic }
        options.qualityOfService = MQTTQualityOfService(rawValue: UInt8(qualityOfService)) ?? .atLeastOnce
        return options
    }

    /// What Home Assistant is told, in the same words. Where nobody spoke of it, it is told nothing, and what it was told
    /// before is taken back.
    var homeAssistantOptions: HomeAssistantOptions {
        var options = HomeAssistantOptions(isEnabled: homeAssistant?.isEnabled ?? false)
        if let prefix = homeAssistant?.discoveryPrefix { options.discoveryPrefix = prefix }
        if let topic = homeAssistant?.statusTopic { options.statusTopic = topic }
        return options
    }
}
