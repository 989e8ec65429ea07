"""A small file system for tests of a full disk."""

import pathlib
import shutil
import subprocess
import tempfile

MIB = 1 << 20


class Disk:
    """A file system in memory with `size` bytes, of which a file fills `ballast_size` until `free_space`.

    Raises `PermissionError` if it cannot be mounted.
    """

    def __init__(self, size, ballast_size):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="parley-disk-"))
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "parley-disk", self.path],
            capture_output=True, text=True)
        if done.returncode:
            self.path.rmdir()
            raise PermissionError(done.stderr.strip())
        self.ballast = self.path / "ballast"
        self.ballast.write_bytes(bytes(ballast_size))

    def folder(self, name):
        """Creates a folder on the disk to which a PostgreSQL server may write."""
        folder = self.path / name
        folder.mkdir(mode=0o700)
        shutil.chown(folder, "nobody")
        return folder

    def free_space(self):
        self.ballast.unlink()

    def close(self):
        subprocess.run(["umount", "-l", self.path], check=True)
        self.path.rmdir()
