"""A small disk of a test's own, to be filled."""

import pathlib
import shutil
import subprocess
import tempfile

MIB = 1 << 20


class Disk:
    """A disk of its own, of which a file holds a part until room is made."""

    def __init__(self, size, held):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="parley-disk-"))
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "parley-disk", self.place],
            capture_output=True, text=True)
        if done.returncode:
            self.place.rmdir()
            raise PermissionError(done.stderr.strip())
        self.ballast = self.place / "ballast"
        self.ballast.write_bytes(bytes(held))

    def folder(self, name):
        """A folder there, which is the server's."""
        folder = self.place / name
        folder.mkdir(mode=0o700)
        shutil.chown(folder, "nobody")
        return folder

    def make_room(self):
        self.ballast.unlink()

    def close(self):
        subprocess.run(["umount", "-l", self.place], check=True)
        self.place.rmdir()
