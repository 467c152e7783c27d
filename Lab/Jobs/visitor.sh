# A user without special permissions can use bluetoothd. For raw HCI she gets an error with the missing permission and a
# remedy.
# generations: legacy
# limit: 120

plug 0
plug 1
start_bus
check "bluetoothd runs" start_bluetoothd -E
air start standing
mkdir -m 777 /out/visitor

refused() { as_visitor beacon scan --source hci:hci0 >/out/refused.log 2>&1; [ $? -eq 1 ] || cat /out/refused.log; }
check "raw HCI is refused with status 1" refused
check "the error contains the remedy" contains /out/refused.log 'setcap|cap_net_raw|sudo'

background visitor as_visitor beacon scan --source auto --json
check "auto chooses bluetoothd for her" within 40 contains /out/visitor.log '"uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0"'
end visitor

background sender as_visitor beacon advertise --uuid 0a0b0c0d-0102-0304-0506-0708090a0b0c --major 1 --minor 2 --adapter bluez:hci1
check "she can advertise by way of bluetoothd" within 30 air_is advertising 1 state 1
kill -KILL $(pidof beacon)
check "after kill -9 nothing stays on the air" within 2 air_is advertising 0 state 1

# With the capabilities from the error message, the same program may use raw HCI. File capabilities need a file system
# that stores them.
cp /opt/bin/beacon /tmp/beacon
setcap cap_net_raw,cap_net_admin+eip /tmp/beacon
background capable as_visitor /tmp/beacon scan --source hci:hci0 --json
check "with capabilities she can use raw HCI" within 30 contains /out/capable.log 'c0:11:22:33:44:55'
end capable

# doctor's exit status is ignored: problems are expected here.
as_visitor beacon doctor >/out/doctor.log 2>&1
check "doctor reports what is missing" contains /out/doctor.log 'setcap|cap_net_raw'
beacon doctor --json >/out/doctor.json 2>/out/doctor.err
check "doctor lists both adapters" contains /out/doctor.json '02:be:00:00:00:01|02:BE:00:00:00:01'
