// Runs files of Kumulos' own SDK. scripts/check-kumulos compiles them with this file.
//
//   sdk map ADDRESS           prints the address of each service
//   sdk events ADDRESS        posts the events on standard input
//   sdk messages ADDRESS [SECONDS]   asks for messages, as at a time since 1970, and stores them as the SDK does
//
// It has to end where that SDK ends the app.
// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
import Foundation

let (verb, address) = (CommandLine.arguments[1], CommandLine.arguments[2])
let urls = UrlBuilder(baseUrlMap: serviceMap(address))

func client(_ service: Service) -> KSHttpClient {
    let client = KSHttpClient(
        baseUrl: URL(string: urls.urlForService(service))!, requestFormat: .json, responseFormat: .json)
    client.setBasicAuth(user: "key", password: "secret")
    return client
}

/// Stores messages like the SDK's `persistInAppMessages`, and ends where that ends the app.
func store(_ messages: [[AnyHashable: Any]]) {
    let parser = DateFormatter()
    parser.dateFormat = "yyyy-MM-dd'T'HH:mm:ssZZZZZ"
    parser.locale = Locale(identifier: "en_US_POSIX")
    parser.timeZone = TimeZone(secondsFromGMT: 0)
    for message in messages {
        let id = (message["id"] as! NSNumber).int64Value
        precondition(id > 0 && id < 1 << 31)
        _ = parser.date(from: message["updatedAt"] as! String)!
        precondition(["immediately", "next-open", "never"].contains(message["presentedWhen"] as! String))
        let content = message["content"] as! [String: Any]
        let inbox = message["inbox"] as! [String: Any]
        print(id, content["text"] as! String, inbox["title"] as! String, inbox["subtitle"] as! String, separator: "|")
    }
}

func answer(_ body: Any?) -> Int32 {
    // Anything else counts as no messages.
    if verb == "messages" { store(body as! [[AnyHashable: Any]]) }
    return 0
}

func fail(_ response: HTTPURLResponse?, _ error: Error?) -> Never {
    print(response?.statusCode ?? 0, error as Any)
    exit(1)
}

switch verb {
case "map":
    for service in Service.allCases { print(service, urls.urlForService(service)) }
case "events":
    let events = try! JSONSerialization.jsonObject(with: FileHandle.standardInput.readDataToEndOfFile())
    client(.events).sendRequest(
        .POST, toPath: eventsPath(), data: events, onSuccess: { exit(answer($1)) },
        onFailure: { response, error, _ in fail(response, error) })
    RunLoop.main.run()
default:
    let last = CommandLine.arguments.dropFirst(3).first.flatMap { Double($0) }.map { NSDate(timeIntervalSince1970: $0) }
    client(.push).sendRequest(
        .GET, toPath: messagesPath(last), data: nil, onSuccess: { exit(answer($1)) },
        onFailure: { response, error, _ in fail(response, error) })
    RunLoop.main.run()
}
