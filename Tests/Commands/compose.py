"""The files of docker/ are consistent, as far as that can be checked without Docker.

usage: compose.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docker"
SECRETS = {"PARLEY_APP_ID": "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55", "PARLEY_APP_TOKEN": "a-token-of-16-characters",
           "DATABASE_PASSWORD": "sesame", "S3_SECRET_KEY": "sesame"}


def settings():
    """The variables that Parley accepts."""
    groups = json.loads((ROOT / "Config" / "parley.json").read_text())
    names = []
    for group, value in groups.items():
        names += [f"{group}_{name}" for name in value] if isinstance(value, dict) else [group]
    return {f"PARLEY_{name.upper()}" for name in names}


def interpolated(text, known):
    """The text with the values of `known` in place of variables, as compose reads it; required ones must be known."""
    def value(match):
        name, fallback = match[1], match[2] or ""
        if fallback.startswith(":?"):
            assert name in known, f"{name} is required, but this test has no value for it"
        return known.get(name, fallback.removeprefix(":-"))
    return re.sub(r"\$\{(\w+)(:[-?][^}]*)?\}", value, text)


def check(path, yaml):
    composition = yaml.safe_load(interpolated(path.read_text(), SECRETS))
    services, known = composition["services"], settings()
    for name, service in services.items():
        label = f"{path.name}: {name}"
        assert "image" in service, f"{label} has no image"
        build = service.get("build")
        if build:
            assert (FOLDER / build["context"] / build["dockerfile"]).is_file(), f"{label}: no {build['dockerfile']}"
        for other in service.get("depends_on", ()):
            assert other in services, f"{label} waits for {other}, which does not exist"
        for mount in service.get("volumes", ()):
            assert mount.split(":")[0] in composition["volumes"], f"{label}: no volume of {mount}"
        for network in service.get("networks", ()):
            assert network in composition["networks"], f"{label}: no network {network}"
        for config in service.get("configs", ()):
            assert config["source"] in composition["configs"], f"{label}: no config {config['source']}"
        for variable in service.get("environment", {}):
            assert not variable.startswith("PARLEY_") or variable in known, f"{label}: no setting {variable}"
    for name, config in composition.get("configs", {}).items():
        assert "content" in config or (FOLDER / config["file"]).is_file(), f"{path.name}: no file of {name}"
    return composition


def check_cluster(cluster):
    services = cluster["services"]
    ours = {name for name, service in services.items() if service["image"] == "parley"}
    conf = (FOLDER / "nginx.conf").read_text()
    # nginx resolves a name in a variable again and again, so that a container may be replaced; other names only once.
    assert "resolver 127.0.0.11" in conf, "nginx.conf names no resolver"
    targets = re.findall(r"proxy_pass\s+http://([^/;]+)", conf)
    assert targets and all(target == "$processes:8080" for target in targets), f"nginx.conf passes requests to {targets}"
    alias = re.search(r"set \$processes ([\w-]+);", conf)[1]
    found = {name for name, service in services.items()
             if isinstance(service["networks"], dict)
             and alias in service["networks"]["inside"]["aliases"]}
    assert found == ours, f"{alias} is an alias of {found} instead of {ours}"
    for name in ours:
        environment = services[name]["environment"]
        hosts = re.findall(r"//(?:[^@/]*@)?([\w-]+)", environment["PARLEY_DATABASE_URL"] + " " + environment["PARLEY_S3_ENDPOINT"])
        assert all(host in services for host in hosts), f"{name} names the hosts {hosts}, not all of which exist"
    json.loads(cluster["configs"]["accounts"]["content"])
    check_nginx(conf)


def check_images():
    """Checks that each image names a full release, because tags such as 1.26 or bookworm change over time."""
    names = re.findall(r"^FROM (\S+)", (FOLDER / "Dockerfile").read_text(), re.MULTILINE)
    for path in FOLDER.glob("compose*.yaml"):
        names += re.findall(r"^\s*image: (\S+)", path.read_text(), re.MULTILINE)
    for image in set(names) - {"parley"}:
        number = 2 if image.split(":")[0] in ("debian", "postgres", "chrislusf/seaweedfs") else 3
        exact = r":\d+" + r"\.\d+" * (number - 1) + r"(-\w+)?$|@sha256:[0-9a-f]{64}$"
        assert re.search(exact, image), f"{image} names no exact release"
    print("ok images:", ", ".join(sorted(set(names) - {"parley"})))


def check_build():
    """Checks that the Dockerfile copies only what its ignore file allows, and that the package needs no Tests."""
    text = (FOLDER / "Dockerfile").read_text()
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in source.split():
            assert not name.startswith("Tests"), "the image is built from Tests"
            is_copied = f"!{name}" in (FOLDER / "Dockerfile.dockerignore").read_text().split()
            assert is_copied, f"Dockerfile.dockerignore leaves {name} out"
    if not shutil.which("swift"):
        return print("  swift is missing: the package is not checked")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "Package.swift", folder)
        os.symlink(ROOT / "Sources", pathlib.Path(folder) / "Sources")
        done = subprocess.run(["swift", "package", "dump-package"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        targets = json.loads(done.stdout)["targets"]
        outside = [target["name"] for target in targets
                   if target["type"] == "test" or (target.get("path") or "").startswith("Tests")]
        assert not outside, f"without Tests the package still has {outside}"
        assert any(target["name"] == "parley" for target in targets), "the package has no parley"
    print("ok Package.swift without Tests")


def check_nginx(conf):
    if not shutil.which("nginx"):
        return print("  nginx is missing: its configuration is only parsed")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "conf").write_text(
            f"pid {path}/pid; error_log {path}/log; events {{}} http {{ access_log off; {conf} }}")
        done = subprocess.run(
            ["nginx", "-t", "-p", folder, "-c", path / "conf", "-e", path / "log"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def check_with_docker(path):
    if not shutil.which("docker") or subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        return print("  docker compose is missing: its check is skipped")
    done = subprocess.run(
        ["docker", "compose", "-f", path, "config", "--quiet"], capture_output=True, text=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"} | SECRETS)
    assert done.returncode == 0, done.stderr


def main():
    check_images()
    check_build()
    try:
        import yaml
    except ImportError:
        return print("docker/: PyYAML is missing, so the files are not checked")
    for path in sorted(FOLDER.glob("compose*.yaml")):
        composition = check(path, yaml)
        if path.name == "compose.cluster.yaml":
            check_cluster(composition)
        check_with_docker(path)
        print(f"ok {path.name}: {', '.join(composition['services'])}")


if __name__ == "__main__":
    sys.exit(main())
