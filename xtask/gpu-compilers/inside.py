"""Compiles WGSL files with the Vulkan driver that the environment selects. compile.py starts this with sid's Python:

    inside.py MARK FILE...

Prints parts, each after a line `MARK WORD`: ADAPTER with the GPU's name; for each file FILE with all output of the driver, then COMPILED,
or FAILED with the reason, which ends the program.
"""

import ctypes
import os
import sys

import wgpu
from wgpu.backends.wgpu_native.extras import set_instance_extras


def say(mark, word, text=""):
    ctypes.CDLL(None).fflush(None)  # what the driver has printed comes before
    os.write(1, f"\n{mark} {word}\n{text}".encode())


def open_adapter():
    set_instance_extras(backends=["Vulkan"])
    return wgpu.gpu.request_adapter_sync(power_preference="high-performance")


def compile_file(device, path):
    with open(path, encoding="utf-8") as file:
        module = device.create_shader_module(code=file.read())
    device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})


def main(mark, paths):
    adapter = open_adapter()
    say(mark, "ADAPTER", adapter.info["device"] + "\n")
    device = adapter.request_device_sync(required_limits=adapter.limits)
    for path in paths:
        say(mark, "FILE")
        try:
            compile_file(device, path)
        except (wgpu.GPUError, OSError, UnicodeDecodeError) as error:
            say(mark, "FAILED", str(error))
            return
        say(mark, "COMPILED")


main(sys.argv[1], sys.argv[2:])
