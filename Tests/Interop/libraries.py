#!/usr/bin/env python3
"""Uploads 64 MB by common libraries, over connections that break, and compares what arrived.

    libraries.py --binary .build/debug/parley [--megabytes 64] [--seed 1]

The libraries are not changed: they are given the URL and the number of retries. Every content goes
through a CuttingProxy, which resets the connection five times during a body. It is done once with contents
on the local disk, and once in a bucket, in which boto3 then looks for the object. What PyPI could not bring
(`make test` asks for it) is left out, which is said.
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
from interop import Place, digest
from server import TOKEN, serving
from store import ObjectStore

AUTHORITY = {"Authorization": f"Bearer {TOKEN}"}
CHUNK = 8 << 20
CUTS = 5
# No library may stop retrying before the network works again.
TRIES = 3 * CUTS


# google-resumable-media: dialect A

def google_with_md5(place, _):
    return google(place, "md5")


def google_with_crc32c(place, _):
    return google(place, "crc32c")


def google(place, checksum):
    """A session of its own; after a cut the same chunk comes again, and in the end the digests must agree."""
    import requests
    from google.resumable_media import common
    from google.resumable_media.requests import ResumableUpload

    upload = ResumableUpload(
        f"{place.base}/uploads?uploadType=resumable", CHUNK, headers=AUTHORITY, checksum=checksum)
    with open(place.file, "rb") as stream, requests.Session() as session:
        made = upload.initiate(session, stream, {"name": "film.mp4"}, "video/mp4")
        upload._retry_strategy = common.RetryStrategy(max_retries=TRIES, initial_delay=0.1, multiplier=1.0)
        while not upload.finished:
            answer = upload.transmit_next_chunk(session)
    assert answer.json()["size"] == str(place.size), answer.text
    return made.headers["Parley-Content-Id"]


def google_at_known_url(place, content):
    """At a URL that the API handed out; after a cut it asks how much is held and goes on from there."""
    import requests
    from google.resumable_media import common
    from google.resumable_media.requests import ResumableUpload

    upload = ResumableUpload(place.base, CHUNK)
    with open(place.file, "rb") as stream, requests.Session() as session:
        upload._resumable_url, upload._stream = content["upload_url"], stream
        upload._content_type, upload._total_bytes = "application/octet-stream", place.size
        upload._retry_strategy = common.RetryStrategy(max_retries=0)
        while not upload.finished:
            try:
                upload.transmit_next_chunk(session)
            except requests.exceptions.ConnectionError:
                # Raised when the stream is not at the offset of the server.
                upload._make_invalid()
                upload.recover(session)
                assert upload.bytes_uploaded == stream.tell() <= place.size
    return content["id"]


# tuspy: dialect B

def tuspy_in_chunks(place, _):
    """Creates the upload by tuspy; the content id is in the answer, which tuspy does not expose."""
    import requests

    uploader = tus_uploader(place, chunk_size=CHUNK, metadata={"filename": "film.mp4"})
    made = requests.post(f"{place.base}/uploads", headers=uploader.get_url_creation_headers())
    uploader.set_url(made.headers["Location"])
    uploader.upload()
    return made.headers["Parley-Content-Id"]


def tuspy_in_one(place, content):
    tus_uploader(place, url=content["upload_url"]).upload()
    return content["id"]


def tuspy_with_checksums(place, content):
    """Each chunk with its SHA-1, all or nothing."""
    tus_uploader(place, url=content["upload_url"], chunk_size=1 << 20, upload_checksum=True).upload()
    return content["id"]


def tuspy_another_day(place, content):
    """Interrupted; a new uploader asks for the offset and resumes."""
    tus_uploader(place, url=content["upload_url"], chunk_size=CHUNK).upload(stop_at=place.size // 2)
    uploader = tus_uploader(place, url=content["upload_url"], chunk_size=CHUNK)
    assert uploader.offset >= place.size // 2
    uploader.upload()
    return content["id"]


def tuspy_async(place, content):
    uploader = tus_uploader(place, "async_uploader", url=content["upload_url"], chunk_size=CHUNK)
    asyncio.run(uploader.upload())
    return content["id"]


def tus_uploader(place, kind="uploader", **manner):
    from tusclient.client import TusClient

    client = TusClient(f"{place.base}/uploads", headers=AUTHORITY)
    return getattr(client, kind)(str(place.file), retries=TRIES, retry_delay=0.1, **manner)


WAYS = {
    google_with_md5: "google.resumable_media.requests",
    google_with_crc32c: "google.resumable_media.requests",
    google_at_known_url: "google.resumable_media.requests",
    tuspy_in_chunks: "tusclient",
    tuspy_in_one: "tusclient",
    tuspy_with_checksums: "tusclient",
    tuspy_another_day: "tusclient",
    tuspy_async: "tusclient",
}


def missing(module):
    """Why a module cannot be used; `None` when it can."""
    try:
        importlib.import_module(module)
    except ImportError as fault:
        return str(fault)
    return None


def try_out(place, proxy, way, chance):
    """One upload with its cuts; the content must be what was sent."""
    content = place.content()
    proxy.plan = [chance.randrange(1 << 20, place.size // CUTS) for _ in range(CUTS)]
    proxy.count = 0
    identifier = way(place, content).rsplit("/", 1)[1]
    assert proxy.count == CUTS, f"cut {proxy.count} times only"
    part = place.folder / "part"
    curl(place.ask("GET", f"/content/{identifier}")["download_url"], save=part)
    assert digest(part) == place.digest, "what arrived is not what was sent"
    return identifier


class BucketReader:
    """The bucket, as boto3 sees it."""

    def __init__(self, settings):
        import boto3

        self.bucket, self.prefix = settings["PARLEY_S3_BUCKET"], settings["PARLEY_S3_PREFIX"]
        self.client = boto3.client(
            "s3", endpoint_url=settings["PARLEY_S3_ENDPOINT"], region_name=settings["PARLEY_S3_REGION"],
            aws_access_key_id=settings["PARLEY_S3_ACCESS_KEY"],
            aws_secret_access_key=settings["PARLEY_S3_SECRET_KEY"])

    def look(self, place, identifier):
        """Expects the object of a content with every byte, and no unused parts."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
        [key] = [item["Key"] for page in pages for item in page.get("Contents", []) if identifier in item["Key"]]
        body = self.client.get_object(Bucket=self.bucket, Key=key)["Body"]
        found = hashlib.sha256()
        for data in body.iter_chunks(1 << 20):
            found.update(data)
        assert found.hexdigest() == place.digest, f"{key} is not what was sent"
        left = self.client.list_multipart_uploads(Bucket=self.bucket, Prefix=self.prefix).get("Uploads", [])
        assert not [upload for upload in left if identifier in upload["Key"]], left


def run(options, where, settings):
    """Runs all libraries with one storage; returns how many succeeded and how many failed."""
    bucket = None
    if settings and (reason := missing("boto3")):
        print(f"  the bucket is not checked: {reason}", flush=True)
    elif settings:
        bucket = BucketReader(settings)
    passed = failed = 0
    chance = random.Random(options.seed)
    with contextlib.closing(CuttingProxy()) as proxy:
        public = {"PARLEY_PUBLIC_URL": f"http://127.0.0.1:{proxy.port}"}
        with serving(options.binary, settings=settings | public) as server:
            server.start()
            proxy.forward_to(server.port)
            place = Place(server, options.megabytes)
            place.base = public["PARLEY_PUBLIC_URL"]
            for way, module in WAYS.items():
                name = f"{way.__name__}, {where}"
                if reason := missing(module):
                    print(f"  {name}: left out: {reason}", flush=True)
                    continue
                began = time.monotonic()
                try:
                    identifier = try_out(place, proxy, way, chance)
                    if bucket:
                        bucket.look(place, identifier)
                    passed += 1
                    print(f"  {name}: cut {CUTS} times, {time.monotonic() - began:.1f} s", flush=True)
                # Whatever a library throws, the others are run.
                except Exception as fault:
                    failed += 1
                    print(f"  BROKEN {name}: {type(fault).__name__}: {fault}", flush=True)
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
