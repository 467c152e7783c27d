#!/usr/bin/env python3
"""Uses a Bluetooth proxy with Home Assistant's libraries: aioesphomeapi, bleak-esphome and habluetooth.

usage: home_assistant.py NAME [KEY]

It finds the proxy by multicast DNS. It prints the proxy's properties, each received device once, and each start and
stop of the scanner.
"""

import asyncio
import sys

from aioesphomeapi import APIClient, BluetoothScannerState
from bleak_esphome import connect_scanner
from habluetooth import BluetoothManager, set_manager
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

NAME = sys.argv[1]
KEY = sys.argv[2] if len(sys.argv) > 2 else None
SERVICE = "_esphomelib._tcp.local."


def say(text):
    print(text, flush=True)


class NoAdapters:
    """A machine without an adapter."""

    history = {}
    adapters = {}
    default_adapter = "hci0"

    async def refresh(self):
        pass


class Manager(BluetoothManager):
    seen = set()

    def _discover_service_info(self, info):
        if (info.address, info.source) not in self.seen:
            self.seen.add((info.address, info.source))
            kinds = "connectable" if info.connectable else "not connectable"
            say(f"heard {info.address} {info.rssi} {kinds} by {info.source} {sorted(info.manufacturer_data)}")


async def find():
    """Waits until the proxy is announced. Returns its host, port and properties."""
    found = asyncio.get_running_loop().create_future()
    network = AsyncZeroconf(interfaces=["127.0.0.1"])

    def changed(zeroconf, service_type, name, state_change):
        if name.startswith(NAME + ".") and not found.done():
            found.set_result(name)

    browser = AsyncServiceBrowser(network.zeroconf, SERVICE, handlers=[changed])
    info = AsyncServiceInfo(SERVICE, await found)
    while not await info.async_request(network.zeroconf, 3000):
        pass
    await browser.async_cancel()
    await network.async_close()
    return info


async def main():
    manager = Manager(NoAdapters(), None)
    set_manager(manager)
    await manager.async_setup()
    info = await find()
    properties = {key.decode(): (value or b"").decode() for key, value in info.properties.items()}
    say(f"found {info.server} at {info.parsed_addresses()[0]}:{info.port} {properties}")
    client = APIClient(info.parsed_addresses()[0], info.port, "", noise_psk=KEY, client_info="Home Assistant 2026.11")
    gone = asyncio.Event()

    async def on_stop(expected):
        say("goodbye" if expected else "lost")
        gone.set()

    await client.connect(on_stop=on_stop, login=True)
    device = await client.device_info()
    say(f"device {device.name} {device.mac_address} {device.project_name} {device.bluetooth_proxy_feature_flags}")
    if properties["mac"] != device.mac_address.replace(":", "").lower():
        raise SystemExit("the announcement has a different address than the device")
    entities, services = await client.list_entities_services()
    client.subscribe_states(lambda state: None)
    client.subscribe_bluetooth_scanner_state(lambda answer: say(f"scanner {BluetoothScannerState(answer.state).name}"))
    data = connect_scanner(client, device, True)
    data.scanner.async_setup()
    manager.async_register_scanner(data.scanner)
    say(f"scanning {data.scanner.connectable} {len(entities)}")
    await gone.wait()


asyncio.run(main())
