# beacon receives all adverts with a raw HCI socket, and leaves no scan behind however it ends.
# generations: legacy extended
# limit: 90

standing='"uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","major":1,"minor":1,"measuredPower":-59,"rssi":-65'
scan() { background scan beacon scan --source hci:hci0 --json; }
stops() { within "$1" air_is scanning 0 state 0; }

plug 0
plug 1
up 0
up 1
capture
air start standing

scan
check "the standing beacon is heard with its signal strength" within 30 at_least 20 /out/scan.log "c0:11:22:33:44:55\",$standing"
check "every advert is heard, not only one per device" air_is filter 0 state 0
check "the scan is passive" air_is active 0 state 0
rotated() { [ "$(sed -n 's/.*"address":"\([^"]*\)".*"minor":2.*/\1/p' /out/scan.log | sort -u | wc -l)" -ge 2 ]; }
check "a beacon is still heard after a change of its address" within 20 rotated
check "phones do not count as beacons" lacks /out/scan.log '"uuid":"[^e]'

raw_advertise 1 on "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16" "AB CD" "12 34"
check "another program's beacon on hci1 is heard" within 20 \
    at_least 3 /out/scan.log '"uuid":"01020304-0506-0708-0910-111213141516","major":43981,"minor":4660,"measuredPower":-59,"rssi":-55'
raw_advertise 1 off

end scan
check "after TERM it leaves no scan behind" stops 1
check "it prints its counts" contains /out/scan.err 'packets [0-9]+ reports [0-9]+ bad-crc 0 ibeacons [0-9]+'

# btmon read the same events in parallel. While both listened, each advert must appear in both outputs.
captured
count() { awk '/^[<>@=]/ { ours = /\[hci0\]/ } /Type: iBeacon/ && ours { n++ } END { print n + 0 }' /out/btmon.txt; }
ours=$(wc -l </out/scan.log)
agree() { _all=$(count); echo "btmon has $_all, beacon $ours"; [ "$_all" -ge "$ours" ] && [ $((_all - ours)) -le 20 ]; }
check "btmon and beacon heard the same adverts" agree

scan
within 20 air_is scanning 1 state 0
kill -KILL "$(pid_of scan)"
check "after kill -9 it leaves no scan behind" stops 2
