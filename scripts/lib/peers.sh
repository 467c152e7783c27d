# Sourced: installs programs from PyPI that the checks run beacon against, and sets `tools` to their folder.
. scripts/lib/packages.sh

needs python3-venv python3 -c 'import ensurepip, venv'
install_missing

tools=.build/peers
if ! "$tools/bin/python" -c 'import aioesphomeapi, bleak_esphome, bluetooth_data_tools, cryptography, habluetooth, noise, TheengsGateway' 2> /dev/null; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r Tests/Peers/requirements.txt
fi
