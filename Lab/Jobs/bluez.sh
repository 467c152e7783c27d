# beacon by way of bluetoothd: it ranges, monitors and advertises at the same time, and survives bluetoothd.
# generations: legacy extended
# limit: 150

uuid=e2c56db5-dffb-48d2-b060-d0f5a71096e0
plug 0
plug 1
capture
start_bus
check "bluetoothd runs" start_bluetoothd -E
air start standing

background range as_visitor beacon range --region $uuid --source bluez:hci0 --json
check "the standing beacon is ranged" within 40 contains /out/range.log '"major":1,"minor":1,"proximity":"(near|far)"'
known() { grep -c '"minor":1,"proximity":"\(near\|far\)"' /out/range.log; }
before=$(known)
ticks=$(wc -l </out/range.log)
ten_more() { [ "$(wc -l </out/range.log)" -ge $((ticks + 10)) ]; }
within 30 ten_more
steady() { _n=$(($(known) - before)); echo "known at $_n of 10 ticks"; [ "$_n" -ge 9 ]; }
check "its proximity is known each second" steady

background monitor as_visitor beacon monitor --region hall=$uuid/1 --exit-timeout 5 --source bluez:hci0 --json
check "the region is entered" within 40 contains /out/monitor.log '"event":"enter".*"name":"hall"'

background advertise as_visitor beacon advertise --uuid 0a0b0c0d-0102-0304-0506-0708090a0b0c --major 258 --minor 772 --adapter bluez:hci1
check "hci1 advertises" within 30 air_is advertising 1 state 1

kill -KILL "$(pid_of bluetoothd)"
lost() { contains "/out/$1.err" 'bluetoothd'; }
for program in range monitor advertise; do within 10 lost $program; done
survive() { is_running range && is_running monitor && is_running advertise; }
check "all three programs survive bluetoothd" survive
start_bluetoothd -E
before=$(known)
again() { [ "$(known)" -gt $((before + 2)) ]; }
check "ranging continues with the next bluetoothd" within 60 again
check "advertising continues too" within 40 air_is advertising 1 state 1

air stop
check "the region is left" within 40 contains /out/monitor.log '"event":"exit".*"name":"hall"'
end range
end monitor
end advertise
check "advertising ends with its program" within 5 air_is advertising 0 state 1
captured
check "btmon shows the correct beacon" contains /out/btmon.txt "UUID: $(backwards 0a0b0c0d-0102-0304-0506-0708090a0b0c)"
