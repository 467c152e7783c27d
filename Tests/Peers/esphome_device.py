#!/usr/bin/env python3
"""A stand-in for an ESPHome device with a Bluetooth proxy, built with aioesphomeapi's messages and its Noise library.

usage: esphome_device.py [--key BASE64] [--version 2026.6.0] [--name hall] [--features 0x7f] [--interval 0.05]
                         [--batch 16] [--port 0] [--until ADVERTS]

It prints its port, and then a line for each event. It treats subscribers like the firmware: up to 2026.6 it refuses a
second one without a message, later the newest replaces the earlier one (bluetooth_proxy.cpp, subscribe_api_connection).
Commands on standard input, one per line: silence, talk, stop (the scanner), start, drop (all connections), beacon
MINOR.
"""

import argparse
import asyncio
import base64
import sys

from aioesphomeapi import api_pb2
from noise.connection import NoiseConnection

KINDS = {
    1: api_pb2.HelloRequest, 3: api_pb2.AuthenticationRequest, 5: api_pb2.DisconnectRequest,
    6: api_pb2.DisconnectResponse, 7: api_pb2.PingRequest, 8: api_pb2.PingResponse, 9: api_pb2.DeviceInfoRequest,
    66: api_pb2.SubscribeBluetoothLEAdvertisementsRequest, 87: api_pb2.UnsubscribeBluetoothLEAdvertisementsRequest,
    73: api_pb2.BluetoothGATTReadRequest,
}
NUMBERS = {
    api_pb2.HelloResponse: 2, api_pb2.AuthenticationResponse: 4, api_pb2.DisconnectResponse: 6, api_pb2.PingResponse: 8,
    api_pb2.DeviceInfoResponse: 10, api_pb2.BluetoothLERawAdvertisementsResponse: 93,
    api_pb2.BluetoothScannerStateResponse: 126, api_pb2.BluetoothGATTErrorResponse: 82,
}


def say(*words):
    print(*words, flush=True)


def variable(number):
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes(digits) + bytes([number])


class Device:
    def __init__(self, options):
        self.options = options
        self.subscriber = None
        self.clients = []
        self.is_silent = False
        self.is_scanning = True
        self.minor = 7
        self.sent = 0

    @property
    def newest_wins(self):
        year, month = self.options.version.split(".")[:2]
        return (int(year), int(month)) >= (2026, 7)

    def state(self):
        states = api_pb2.BluetoothScannerState
        return api_pb2.BluetoothScannerStateResponse(
            state=states.BLUETOOTH_SCANNER_STATE_RUNNING if self.is_scanning
            else states.BLUETOOTH_SCANNER_STATE_FAILED)

    def send_state(self):
        if self.subscriber is not None and self.options.features & 1 << 6:
            self.subscriber.send(self.state())

    def answer(self, client, kind, message):
        if kind == 1:
            say("hello from", message.client_info)
            client.send(api_pb2.HelloResponse(api_version_major=1, api_version_minor=10, name=self.options.name))
        elif kind == 3:
            client.send(api_pb2.AuthenticationResponse())
        elif kind == 7:
            client.send(api_pb2.PingResponse())
        elif kind == 9:
            client.send(api_pb2.DeviceInfoResponse(
                name=self.options.name, mac_address="AA:BB:CC:DD:EE:FF", esphome_version=self.options.version,
                model="stand-in", friendly_name="Hall", bluetooth_proxy_feature_flags=self.options.features,
                bluetooth_mac_address="AA:BB:CC:DD:EE:00"))
        elif kind == 66:
            if self.subscriber not in (None, client):
                if not self.newest_wins:
                    return say("refused")
                say("taken over")
            say("subscribed with flags", message.flags)
            self.subscriber = client
            self.send_state()
        elif kind == 87:
            if self.subscriber is client:
                self.subscriber = None
        elif kind == 73:
            # bluetooth_proxy.cpp, handle_gatt_not_connected_: the error goes to the subscriber of the adverts.
            if self.subscriber is not None:
                self.subscriber.send(api_pb2.BluetoothGATTErrorResponse(
                    address=message.address, handle=message.handle, error=5))
        elif kind == 5:
            client.send(api_pb2.DisconnectResponse())
            client.writer.close()

    async def advertise(self):
        while True:
            await asyncio.sleep(self.options.interval)
            if self.subscriber is None or self.is_silent or not self.is_scanning:
                continue
            batch = api_pb2.BluetoothLERawAdvertisementsResponse()
            for number in range(self.options.batch):
                data = bytes.fromhex("0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e00001") \
                    + self.minor.to_bytes(2, "big") + b"\xc5"
                if number % 2:
                    # An advert of another kind of device.
                    data = bytes.fromhex("02010605160fff0102")
                batch.advertisements.add(address=0xC0_00_00_00_00_01 + number, rssi=-60 - number, address_type=1,
                                         data=data)
            self.subscriber.send(batch)
            self.sent += self.options.batch
            if self.options.until and self.sent >= self.options.until:
                say("sent", self.sent)
                self.is_silent = True

    async def obey(self):
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := (await reader.readline()).decode().split():
            match line:
                case ["silence"]: self.is_silent = True
                case ["talk"]: self.is_silent = False
                case ["stop"] | ["start"]:
                    self.is_scanning = line == ["start"]
                    self.send_state()
                case ["drop"]:
                    for client in list(self.clients):
                        client.writer.close()
                case ["beacon", minor]: self.minor = int(minor)
            say("done", *line)

    async def serve(self, reader, writer):
        client = Client(self, reader, writer)
        self.clients.append(client)
        try:
            await client.run()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception as error:  # The Noise library's error for a wrong key.
            say("failed", type(error).__name__)
        finally:
            self.clients.remove(client)
            if self.subscriber is client:
                self.subscriber = None
            writer.close()
            say("gone")

    async def run(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.options.port)
        say("port", server.sockets[0].getsockname()[1])
        await asyncio.gather(self.advertise(), self.obey() if not sys.stdin.isatty() else asyncio.sleep(0))
        await asyncio.Event().wait()


class Client:
    def __init__(self, device, reader, writer):
        self.device, self.reader, self.writer = device, reader, writer
        self.noise = None

    def send(self, message):
        content = message.SerializeToString()
        number = NUMBERS[type(message)]
        if self.noise:
            frame = self.noise.encrypt(number.to_bytes(2, "big") + len(content).to_bytes(2, "big") + content)
            self.writer.write(b"\x01" + len(frame).to_bytes(2, "big") + frame)
        else:
            self.writer.write(b"\x00" + variable(len(content)) + variable(number) + content)

    async def variable(self):
        number = shift = 0
        while True:
            byte = (await self.reader.readexactly(1))[0]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    async def frame(self):
        if (await self.reader.readexactly(1))[0] != 1:
            problem = b"\x01Bad indicator byte"
            self.writer.write(b"\x01" + len(problem).to_bytes(2, "big") + problem)
            raise ConnectionError
        return await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(2), "big"))

    async def shake_hands(self):
        await self.frame()
        hello = b"\x01" + self.device.options.name.encode() + b"\x00" + b"aabbccddeeff\x00"
        self.writer.write(b"\x01" + len(hello).to_bytes(2, "big") + hello)
        noise = NoiseConnection.from_name(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256")
        noise.set_as_responder()
        noise.set_psks(base64.b64decode(self.device.options.key))
        noise.set_prologue(b"NoiseAPIInit\x00\x00")
        noise.start_handshake()
        handshake = await self.frame()
        try:
            noise.read_message(handshake[1:])
        except Exception:
            problem = b"\x01Handshake MAC failure"
            self.writer.write(b"\x01" + len(problem).to_bytes(2, "big") + problem)
            raise
        answer = b"\x00" + noise.write_message()
        self.writer.write(b"\x01" + len(answer).to_bytes(2, "big") + answer)
        self.noise = noise

    async def run(self):
        if self.device.options.key:
            await self.shake_hands()
        while True:
            if self.noise:
                plain = self.noise.decrypt(await self.frame())
                kind, content = int.from_bytes(plain[:2], "big"), plain[4:]
            else:
                if (await self.reader.readexactly(1))[0] != 0:
                    self.writer.write(b"\x00Bad indicator byte")
                    raise ConnectionError
                count = await self.variable()
                kind = await self.variable()
                content = await self.reader.readexactly(count)
            if kind in KINDS:
                message = KINDS[kind]()
                message.ParseFromString(bytes(content))
                self.device.answer(self, kind, message)


parser = argparse.ArgumentParser()
parser.add_argument("--key")
parser.add_argument("--version", default="2026.6.0")
parser.add_argument("--name", default="hall")
parser.add_argument("--features", type=lambda text: int(text, 0), default=0x7F)
parser.add_argument("--interval", type=float, default=0.05)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--until", type=int, default=0)
asyncio.run(Device(parser.parse_args()).run())
