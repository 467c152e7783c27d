# beacon advertises with a raw HCI socket: others receive its adverts, and the adverts end however the program ends.
# generations: legacy extended
# limit: 90

uuid=0a0b0c0d-0102-0304-0506-0708090a0b0c
send() {
    background advertise beacon advertise --uuid $uuid --major 258 --minor 772 --measured-power -61 --adapter hci1
    within 20 air_is advertising 1 state 1
}
silence() { within "$1" air_is advertising 0 state 1; }

plug 0
plug 1
up 0
up 1
capture
raw_scan 0 on

check "hci1 advertises" send
reports() { [ "$(air_value reports state 0)" -ge "$1" ]; }
check "it is heard on hci0" within 20 reports 20

# Ten a second. The margin allows for the difference between the guest's and the host's clock.
sent=$(air_value transmissions state 1)
begin=$(uptime_hundredths)
enough() { [ "$(air_value transmissions state 1)" -ge $((sent + 30)) ]; }
within 20 enough
took=$(($(uptime_hundredths) - begin))
pace() { echo "30 adverts took $took hundredths of a second"; [ "$took" -ge 250 ] && [ "$took" -le 450 ]; }
check "it is sent ten times a second" pace

kill -INT "$(pid_of advertise)"
check "Ctrl-C ends it" silence 1
end advertise
send
end advertise
check "TERM ends it" silence 1

send
kill -KILL "$(pid_of advertise)"
check "after kill -9 it ends within two seconds" silence 2

# Without the guardian the advert stays until the next start of beacon.
send
kill -KILL $(pidof beacon)
stays() { air_is advertising 1 state 1; }
check "if the guardian is killed too, it stays" stays
background next beacon scan --source hci:hci1 --json
check "the next start ends it" silence 10
end next

# With a new address every two seconds the beacon is sent all the time, from four or more addresses in eight seconds.
background rotate beacon advertise --uuid $uuid --major 258 --minor 772 --measured-power -61 --adapter hci1 \
    --rotate-address 2s
within 20 air_is advertising 1 state 1
sent=$(air_value transmissions state 1)
many() { [ "$(air_value transmissions state 1)" -ge $((sent + 75)) ]; }
check "it is sent all the time while its address changes" within 12 many
end rotate
check "the last address ends too" silence 1

raw_scan 0 off
captured
own() { awk '/^[<>@=]/ { ours = /\[hci0\]/ } ours' /out/btmon.txt >/out/heard.txt; contains /out/heard.txt "$1"; }
check "btmon shows its UUID" own "UUID: $(backwards $uuid)"
addresses() { grep -aoE 'Address: [0-9A-F:]{17} \(Non-Resolvable\)' /out/heard.txt | sort -u; }
# One for each of the five starts, and three or four in the eight seconds.
several() { addresses; [ "$(addresses | wc -l)" -ge 7 ]; }
check "btmon shows an address for each start and each change" several
check "btmon shows its measured power" own 'TX power: -61 dB'
check "the beacon is not connectable" own 'Event type: (Non connectable undirected|0x0010)'
