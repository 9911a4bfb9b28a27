"""compile.py DRIVER FOLDER FILE.wgsl...: compiles kernels for a GPU that this machine does not have, with the compilers that setup.sh put
into FOLDER.

Prints a JSON list with an object for each file: `error`, or the figures of drivers.py and, as `loop`, those of loops.py.
"""

import sys

sys.dont_write_bytecode = True

import json
from pathlib import Path

from drivers import DRIVERS
from start import outcomes


def figures(driver, file, outcome):
    found = {"file": file, "adapter": outcome.adapter, "error": outcome.error}
    if outcome.error:
        return found
    try:
        return found | driver.read(outcome.printed, driver.gpu)
    except (AttributeError, IndexError, KeyError, ValueError) as error:
        return found | {"error": f"this version of the driver prints something else than was known here: {error!r}"}


def main():
    name, folder, *files = sys.argv[1:]
    driver = DRIVERS[name]
    found = [figures(driver, file, outcome) for file, outcome in zip(files, outcomes(Path(folder).resolve(), driver, driver.gpu, files))]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
