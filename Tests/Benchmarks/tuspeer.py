#!/usr/bin/env python3
"""The tus packages of PyPI, each in its own process: the server `tuspyserver` and the client `tuspy`.

    tuspeer.py serve PORT FOLDER
    tuspeer.py upload FILE URL CHUNK [TOKEN]     prints how many seconds it took
"""

import sys
import time


def serve(port, folder):
    import fastapi
    import tuspyserver
    import uvicorn

    app = fastapi.FastAPI()
    app.include_router(tuspyserver.create_tus_router(files_dir=folder))
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error")


def upload(file, url, chunk, token=None):
    from tusclient.client import TusClient

    client = TusClient(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    uploader = client.uploader(file, chunk_size=int(chunk))
    began = time.monotonic()
    uploader.upload()
    print(time.monotonic() - began)


if __name__ == "__main__":
    {"serve": serve, "upload": upload}[sys.argv[1]](*sys.argv[2:])
