#!/usr/bin/env python3
"""Uploads a file by common libraries over connections that are reset, and compares the downloads.

    libraries.py --binary .build/debug/parley [--megabytes 64] [--seed 1]

The libraries are not modified: they get the URL and the number of retries. Every upload goes through a
CuttingProxy, which resets the connection five times during a body. All uploads run once with contents on the
local disk and once in a bucket, whose objects boto3 then reads. Libraries that `make test` could not install
from PyPI are skipped with a message.
"""

import argparse
import asyncio
import contextlib
import hashlib
import importlib
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Crash"), str(HERE.parent / "Support")]

from curl import curl
from cutting_proxy import CuttingProxy
from interop import Fixture, digest
from server import TOKEN, serving
from store import ObjectStore

AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
CUTS = 5
# The retries of a library, enough for every reset.
RETRIES = 3 * CUTS


def chunk_size(fixture):
    """About an eighth of the file, in units of 256 KiB, which google-resumable-media requires."""
    return fixture.size // 8 // (256 << 10) * (256 << 10)


# google-resumable-media: protocol A

def google_with_md5(fixture, _):
    return google(fixture, "md5")


def google_with_crc32c(fixture, _):
    return google(fixture, "crc32c")


def google(fixture, checksum):
    """Creates its own session; after a reset the library repeats the chunk, and at the end compares the digests."""
    import requests
    from google.resumable_media import common
    from google.resumable_media.requests import ResumableUpload

    upload = ResumableUpload(
        f"{fixture.base}/uploads?uploadType=resumable", chunk_size(fixture), headers=AUTHORIZED, checksum=checksum)
    with open(fixture.file, "rb") as stream, requests.Session() as session:
        made = upload.initiate(session, stream, {"name": "film.mp4"}, "video/mp4")
        upload._retry_strategy = common.RetryStrategy(max_retries=RETRIES, initial_delay=0.1, multiplier=1.0)
        while not upload.finished:
            answer = upload.transmit_next_chunk(session)
    assert answer.json()["size"] == str(fixture.size), answer.text
    return made.headers["Parley-Content-Id"]


def google_at_known_url(fixture, content):
    """Uploads to a URL from the API; after a reset the library queries the offset and resumes there."""
    import requests
    from google.resumable_media import common
    from google.resumable_media.requests import ResumableUpload

    upload = ResumableUpload(fixture.base, chunk_size(fixture))
    with open(fixture.file, "rb") as stream, requests.Session() as session:
        upload._resumable_url, upload._stream = content["upload_url"], stream
        upload._content_type, upload._total_bytes = "application/octet-stream", fixture.size
        upload._retry_strategy = common.RetryStrategy(max_retries=0)
        while not upload.finished:
            try:
                upload.transmit_next_chunk(session)
            except requests.exceptions.ConnectionError:
                # Raised when the stream is not at the offset of the server.
                upload._make_invalid()
                upload.recover(session)
                assert upload.bytes_uploaded == stream.tell() <= fixture.size
    return content["id"]


# tuspy: protocol B

def tuspy_in_chunks(fixture, _):
    """Creates the upload by tuspy; the content id is in the answer, which tuspy does not expose."""
    import requests

    uploader = tus_uploader(fixture, chunk_size=chunk_size(fixture), metadata={"filename": "film.mp4"})
    made = requests.post(f"{fixture.base}/uploads", headers=uploader.get_url_creation_headers())
    uploader.set_url(made.headers["Location"])
    uploader.upload()
    return made.headers["Parley-Content-Id"]


def tuspy_in_one(fixture, content):
    tus_uploader(fixture, url=content["upload_url"]).upload()
    return content["id"]


def tuspy_with_checksums(fixture, content):
    """Sends each chunk with its SHA-1; the server stores all of a chunk or nothing."""
    tus_uploader(fixture, url=content["upload_url"], chunk_size=1 << 20, upload_checksum=True).upload()
    return content["id"]


def tuspy_with_a_new_uploader(fixture, content):
    """Stops at half of the file; a new uploader queries the offset and resumes."""
    tus_uploader(fixture, url=content["upload_url"], chunk_size=chunk_size(fixture)).upload(stop_at=fixture.size // 2)
    uploader = tus_uploader(fixture, url=content["upload_url"], chunk_size=chunk_size(fixture))
    assert uploader.offset >= fixture.size // 2
    uploader.upload()
    return content["id"]


def tuspy_async(fixture, content):
    uploader = tus_uploader(fixture, "async_uploader", url=content["upload_url"], chunk_size=chunk_size(fixture))
    asyncio.run(uploader.upload())
    return content["id"]


def tus_uploader(fixture, kind="uploader", **options):
    from tusclient.client import TusClient

    client = TusClient(f"{fixture.base}/uploads", headers=AUTHORIZED)
    return getattr(client, kind)(str(fixture.file), retries=RETRIES, retry_delay=0.1, **options)


UPLOADS = {
    google_with_md5: "google.resumable_media.requests",
    google_with_crc32c: "google.resumable_media.requests",
    google_at_known_url: "google.resumable_media.requests",
    tuspy_in_chunks: "tusclient",
    tuspy_in_one: "tusclient",
    tuspy_with_checksums: "tusclient",
    tuspy_with_a_new_uploader: "tusclient",
    tuspy_async: "tusclient",
}


def missing(module):
    """Why a module cannot be imported; `None` when it can."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        return str(error)
    return None


def upload_with_resets(fixture, proxy, protocol, generator):
    """Runs one upload with its resets; expects that the content equals what was sent."""
    content = fixture.content()
    proxy.plan = [generator.randrange(1 << 20, fixture.size // CUTS) for _ in range(CUTS)]
    proxy.count = 0
    identifier = protocol(fixture, content).rsplit("/", 1)[1]
    assert proxy.count == CUTS, f"only {proxy.count} connections were reset"
    part = fixture.folder / "part"
    curl(fixture.send("GET", f"/content/{identifier}")["download_url"], save=part)
    assert digest(part) == fixture.digest, "the download differs from what was sent"
    return identifier


class BucketReader:
    """Reads the bucket with boto3."""

    def __init__(self, settings):
        import boto3

        self.bucket, self.prefix = settings["PARLEY_S3_BUCKET"], settings["PARLEY_S3_PREFIX"]
        self.client = boto3.client(
            "s3", endpoint_url=settings["PARLEY_S3_ENDPOINT"], region_name=settings["PARLEY_S3_REGION"],
            aws_access_key_id=settings["PARLEY_S3_ACCESS_KEY"],
            aws_secret_access_key=settings["PARLEY_S3_SECRET_KEY"])

    def expect_object(self, fixture, identifier):
        """Expects the complete object of a content, and no unused parts."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
        [key] = [item["Key"] for page in pages for item in page.get("Contents", []) if identifier in item["Key"]]
        body = self.client.get_object(Bucket=self.bucket, Key=key)["Body"]
        found = hashlib.sha256()
        for data in body.iter_chunks(1 << 20):
            found.update(data)
        assert found.hexdigest() == fixture.digest, f"{key} is not what was sent"
        left = self.client.list_multipart_uploads(Bucket=self.bucket, Prefix=self.prefix).get("Uploads", [])
        assert not [upload for upload in left if identifier in upload["Key"]], left


def run(options, storage, settings):
    """Runs all libraries with one storage; returns how many succeeded and how many failed."""
    bucket = None
    if settings and (reason := missing("boto3")):
        print(f"  the bucket is not checked: {reason}", flush=True)
    elif settings:
        bucket = BucketReader(settings)
    passed = failed = 0
    generator = random.Random(options.seed)
    with contextlib.closing(CuttingProxy()) as proxy:
        public = {"PARLEY_PUBLIC_URL": f"http://127.0.0.1:{proxy.port}"}
        with serving(options.binary, settings=settings | public) as server:
            server.start()
            proxy.forward_to(server.port)
            fixture = Fixture(server, options.megabytes)
            fixture.base = public["PARLEY_PUBLIC_URL"]
            for protocol, module in UPLOADS.items():
                name = f"{protocol.__name__}, {storage}"
                if reason := missing(module):
                    print(f"  {name}: skipped: {reason}", flush=True)
                    continue
                began = time.monotonic()
                try:
                    identifier = upload_with_resets(fixture, proxy, protocol, generator)
                    if bucket:
                        bucket.expect_object(fixture, identifier)
                    passed += 1
                    print(f"  {name}: {CUTS} resets, {time.monotonic() - began:.1f} s", flush=True)
                # Any error, so that the other libraries are tested after one fails.
                except Exception as error:
                    failed += 1
                    print(f"  FAILED {name}: {type(error).__name__}: {error}", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"libraries: {options.megabytes} MB, seed {options.seed}", flush=True)
    passed, failed = run(options, "on disk", {})
    with contextlib.closing(ObjectStore()) as store:
        if store.settings:
            more = run(options, f"in a bucket of {store.name}", store.settings)
            passed, failed = passed + more[0], failed + more[1]
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
