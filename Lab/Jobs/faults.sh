# Adapters that are unplugged, refuse commands or do not answer: states and notices, and recovery.
# generations: legacy extended
# limit: 120

plug 0
plug 1
up 0
up 1
air start standing
lines() { wc -l <"$1"; }
grows() { [ "$(lines "$1")" -ge $(($2 + 5)) ]; }
recovers() { within "$1" grows /out/scan.log "$(lines /out/scan.log)"; }

air refuse 0 2 13
background scan beacon scan --source hci:hci0 --json
check "the scan is retried after a refusal" within 30 grows /out/scan.log 0
check "beacon reports the reason" contains /out/scan.err '^hci0: '

background advertise beacon advertise --uuid 0a0b0c0d-0102-0304-0506-0708090a0b0c --major 1 --minor 2 --adapter hci:hci1
check "hci1 advertises" within 20 air_is advertising 1 state 1

unplug 0
check "beacon survives the removal of the adapter" is_running scan
check "beacon reports the removal" within 20 contains /out/scan.err '^hci0: .*(gone|removed|lost|unplugged|not there|is no)'
plug 0
check "it hears again when the adapter is back" recovers 30

unplug 1
check "an advertiser survives the removal too" is_running advertise
plug 1
check "the advertiser advertises again" within 30 air_is advertising 1 state 1
end advertise

hciconfig hci0 down
check "beacon reports that the adapter is off" within 20 contains /out/scan.err '^hci0: .*(off|down)'
up 0
check "it hears again when the adapter is on" recovers 30

end scan
check "it leaves no scan behind" within 2 air_is scanning 0 state 0
