# The kernel sets both controllers up, and each receives the other's adverts, sent by raw commands and by the kernel.
# generations: legacy extended
# limit: 60

reports() { [ "$(air_value reports state 0)" -ge "$1" ]; }

check "hci0 comes up" plug 0
check "hci1 comes up" plug 1
capture
up 0
up 1

raw_scan 0 on
check "hci0 scans" within 10 air_is scanning 1 state 0
raw_advertise 1 on "E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0" "00 01" "00 02"
check "hci1 advertises by a raw command" within 10 air_is advertising 1 state 1
check "hci0 hears hci1" within 20 reports 10
raw_advertise 1 off
check "hci1 no longer advertises" within 10 air_is advertising 0 state 1

# The kernel's management interface. btmgmt prints nothing if its standard input is /dev/null.
advertise() {
    echo | btmgmt --index 1 power off
    echo | btmgmt --index 1 le on
    echo | btmgmt --index 1 power on
    echo | btmgmt --index 1 add-adv -d 1AFF4C00021501020304050607080910111213141516ABCDABCDC5 1
}
advertise >/out/btmgmt.log 2>&1
check "hci1 advertises by the kernel" within 10 air_is advertising 1 state 1
before=$(air_value reports state 0)
check "hci0 hears the kernel's advert" within 20 reports $((before + 10))
raw_scan 0 off
check "hci0 no longer scans" within 10 air_is scanning 0 state 0

captured
check "btmon shows our beacon" contains /out/btmon.txt "UUID: $(backwards e2c56db5-dffb-48d2-b060-d0f5a71096e0)"
check "btmon shows the kernel's beacon" contains /out/btmon.txt "UUID: $(backwards 01020304-0506-0708-0910-111213141516)"
check "the controller lost nothing" air_is overruns 0 state 0
