"""An object store for tests in Python; see objectstore.py."""

import pathlib
import subprocess
import sys


class ObjectStore:
    """An object store that ends with this process, however that ends; `settings` is `None` if none is installed."""

    def __init__(self):
        folder = pathlib.Path(__file__).resolve().parent
        installed = folder.parent.parent / ".build/python/bin/python"
        self.process = subprocess.Popen(
            [installed if installed.exists() else sys.executable, folder / "objectstore.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answer = self.process.stdout.readline().strip()
        self.settings = None
        # `seaweedfs` or `moto`.
        self.name = None
        if not answer.startswith("ready "):
            return print(f"object store: {answer}", flush=True)
        self.name = answer.split()[2]
        self.settings = {
            "PARLEY_S3_ENDPOINT": answer.split()[1],
            "PARLEY_S3_REGION": "eu-test-1",
            "PARLEY_S3_BUCKET": "parley",
            "PARLEY_S3_PREFIX": "tests/",
            "PARLEY_S3_ACCESS_KEY": "parley",
            "PARLEY_S3_SECRET_KEY": "sesame-and-more",
        }

    def close(self):
        self.process.stdin.close()
        self.process.wait()
