# beacon hears by a raw HCI socket what is on the air, and leaves no scan behind, whatever its end.
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
check "the standing beacon is heard, as strong as it is" within 30 at_least 20 /out/scan.log "c0:11:22:33:44:55\",$standing"
check "each advert is heard, not each device once" air_is filter 0 state 0
check "the scan is passive" air_is active 0 state 0
rotated() { [ "$(sed -n 's/.*"address":"\([^"]*\)".*"minor":2.*/\1/p' /out/scan.log | sort -u | wc -l)" -ge 2 ]; }
check "a beacon that changes its address is heard on" within 20 rotated
check "phones are no beacons" lacks /out/scan.log '"uuid":"[^e]'

raw_advertise 1 on "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16" "AB CD" "12 34"
check "another program's beacon on hci1 is heard" within 20 \
    at_least 3 /out/scan.log '"uuid":"01020304-0506-0708-0910-111213141516","major":43981,"minor":4660,"measuredPower":-59,"rssi":-55'
raw_advertise 1 off

end scan
check "ended by TERM it leaves no scan behind" stops 1
check "it says how much it heard" contains /out/scan.err 'packets [0-9]+ reports [0-9]+ bad-crc 0 ibeacons [0-9]+'

# As btmon tells it, which read the same events beside us; no advert may be heard by one alone while we listened.
captured
count() { awk '/^[<>@=]/ { ours = /\[hci0\]/ } /Type: iBeacon/ && ours { n++ } END { print n + 0 }' /out/btmon.txt; }
ours=$(wc -l </out/scan.log)
agree() { _all=$(count); echo "btmon has $_all, beacon $ours"; [ "$_all" -ge "$ours" ] && [ $((_all - ours)) -le 20 ]; }
check "btmon and beacon heard the same" agree

scan
within 20 air_is scanning 1 state 0
kill -KILL "$(pid_of scan)"
check "killed at once it leaves no scan behind" stops 2
