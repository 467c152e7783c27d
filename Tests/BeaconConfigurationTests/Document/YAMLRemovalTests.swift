import BeaconConfiguration
import Testing

@Suite("Removing items from a file")
struct YAMLRemovalTests {
    private func removed(_ numbers: Set<Int>, of list: [String] = ["beacons"], drops: Bool = false, from text: String)
        throws -> String
    {
        try YAMLDocument.removing(numbers, of: list, dropsEmpty: drops, from: text)
    }

    private static let text = """
        # My house
        web: true   # here
        beacons:
          # Ann's
          - name: keys
            note: |
              # not a comment

              text
          # Bob's
          # old ones
          - { name: bag,
              minor: 2 }   # his

          -
            # the cat's
            name: cat
          # after all
        regions: [{ name: hall }]   # one

        """

    @Test("An item goes with its comments, and all other lines stay")
    func middle() throws {
        #expect(
            try removed([1], from: Self.text)
                == """
                # My house
                web: true   # here
                beacons:
                  # Ann's
                  - name: keys
                    note: |
                      # not a comment

                      text

                  -
                    # the cat's
                    name: cat
                  # after all
                regions: [{ name: hall }]   # one

                """)
    }

    @Test("The first and the last item are removed")
    func ends() throws {
        #expect(
            try removed([0, 2], from: Self.text)
                == """
                # My house
                web: true   # here
                beacons:
                  # Ann's
                  # Bob's
                  # old ones
                  - { name: bag,
                      minor: 2 }   # his

                  # after all
                regions: [{ name: hall }]   # one

                """)
    }

    @Test("A list without items is written as empty, or its key is removed")
    func empty() throws {
        let text = "a: 1\r\nlaunch:\r\n  rules:   # mine\r\n  - name: x\r\n    to: y\r\nb: 2"
        #expect(
            try removed([0], of: ["launch", "rules"], from: text)
                == "a: 1\r\nlaunch:\r\n  rules: []   # mine\r\nb: 2")
        #expect(try removed([0], drops: true, from: "a: 1\nbeacons:\n- name: x\n") == "a: 1\n")
    }

    @Test(
        "A list in another form, and an item that others use, are refused",
        arguments: [
            ("beacons: [{ name: a }, { name: b }]", "does not begin with"),
            ("beacons:\n- &a { name: a }\n- { name: b }\nplaces: [*a]", "anchor"),
            ("beacons:\n- name: &a a\n- name: b\nplaces:\n- *a", "anchor"),
            ("beacons: &all\n- name: a\nplaces: *all", "anchor"),
        ])
    func refused(text: String, words: String) throws {
        let failure = #expect(throws: YAMLDocument.RemovalFailure.self) { try removed([0], from: text) }
        #expect(failure?.description.contains(words) == true)
    }
}
