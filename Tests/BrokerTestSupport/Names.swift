/// Returns all names of up to three letters.
package func names(of letters: [String]) -> [String] {
    let two = letters.flatMap { first in letters.map { first + $0 } }
    return [""] + letters + two + two.flatMap { start in letters.map { start + $0 } }
}
