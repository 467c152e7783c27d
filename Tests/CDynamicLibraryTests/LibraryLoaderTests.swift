import CDynamicLibrary
import CLibrary
import Testing

/// Tests of the loader for libraries that are opened at run time.
struct LibraryLoaderTests {
    /// Opens a library and returns the address of its function, or nil and the problem.
    private static func address(
        of function: String, in names: [String], reporting reported: String
    ) -> (address: UnsafeMutableRawPointer?, problem: String) {
        let texts = (names + [function, reported]).compactMap { strdup($0).map { UnsafePointer($0) } }
        defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
        let list: [UnsafePointer<CChar>?] = texts.dropLast(2) + [nil]
        var address: UnsafeMutableRawPointer?
        var problem = [CChar](repeating: 0, count: 200)
        let isOpen = list.withUnsafeBufferPointer { list in
            withUnsafeMutablePointer(to: &address) { address in
                guard let names = list.baseAddress else { return false }
                return withUnsafePointer(to: beacon_symbol(name: texts[texts.count - 2], variable: address)) { symbol in
                    "a library".withCString { title in
                        "; it is old".withCString { remark in
                            var library = beacon_library(
                                names: names, reported_name: texts[texts.count - 1], title: title,
                                remark: remark, symbols: symbol, symbol_count: 1)
                            return beacon_open_library(&library, &problem, problem.count)
                        }
                    }
                }
            }
        }
        let text = problem.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return (isOpen ? address : nil, String(decoding: text, as: UTF8.self))
    }

    @Test("The first existing library of a list is opened")
    func opens() {
        let names = ["libnobody-has-this.so.7", "libpthread.so.0", "libc.so.6"]
        let (address, problem) = Self.address(of: "getpid", in: names, reporting: names[0])
        #expect(address != nil, "\(problem)")
    }

    @Test("If no library exists, the problem names the library to report")
    func missing() {
        let names = ["libnobody-has-this.so.7", "libnobody-has-this.so.6"]
        for name in names {
            let (address, problem) = Self.address(of: "getpid", in: names, reporting: name)
            #expect(address == nil)
            #expect(problem.hasPrefix(name), "\(problem)")
        }
    }

    @Test("A library without a function is rejected with the function's name")
    func incomplete() {
        let (address, problem) = Self.address(of: "no_such_function", in: ["libc.so.6"], reporting: "libc.so.6")
        #expect(address == nil)
        #expect(problem == "a library has no no_such_function; it is old")
    }
}
