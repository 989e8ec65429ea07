"""The files of docker/ fit together, as far as that can be told without Docker.

usage: compose.py
"""

import json
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
    """The variables that Parley knows."""
    groups = json.loads((ROOT / "Config" / "parley.json").read_text())
    names = []
    for group, value in groups.items():
        names += [f"{group}_{name}" for name in value] if isinstance(value, dict) else [group]
    return {f"PARLEY_{name.upper()}" for name in names}


def interpolated(text, known):
    """The text as compose reads it; a variable that must be said has to be among those known."""
    def value(match):
        name, fallback = match[1], match[2] or ""
        if fallback.startswith(":?"):
            assert name in known, f"{name} is asked for and nowhere described"
        return known.get(name, fallback.removeprefix(":-"))
    return re.sub(r"\$\{(\w+)(:[-?][^}]*)?\}", value, text)


def check(path, yaml):
    whole = yaml.safe_load(interpolated(path.read_text(), SECRETS))
    services, known = whole["services"], settings()
    for name, service in services.items():
        where = f"{path.name}: {name}"
        assert "image" in service, f"{where} has no image"
        build = service.get("build")
        if build:
            assert (FOLDER / build["context"] / build["dockerfile"]).is_file(), f"{where}: no {build['dockerfile']}"
        for other in service.get("depends_on", ()):
            assert other in services, f"{where} waits for {other}, which is not there"
        for mount in service.get("volumes", ()):
            assert mount.split(":")[0] in whole["volumes"], f"{where}: no volume of {mount}"
        for network in service.get("networks", ()):
            assert network in whole["networks"], f"{where}: no network {network}"
        for config in service.get("configs", ()):
            assert config["source"] in whole["configs"], f"{where}: no config {config['source']}"
        for variable in service.get("environment", {}):
            assert not variable.startswith("PARLEY_") or variable in known, f"{where}: no setting {variable}"
    for name, config in whole.get("configs", {}).items():
        assert "content" in config or (FOLDER / config["file"]).is_file(), f"{path.name}: no file of {name}"
    return whole


def check_cluster(cluster):
    services = cluster["services"]
    ours = {name for name, service in services.items() if service["image"] == "parley"}
    conf = (FOLDER / "nginx.conf").read_text()
    asked = set(re.findall(r"^\s*server ([\w-]+):8080;", conf, re.MULTILINE))
    assert asked == ours, f"nginx.conf passes on to {asked}, and there are {ours}"
    for name in ours:
        said = services[name]["environment"]
        hosts = re.findall(r"//(?:[^@/]*@)?([\w-]+)", said["PARLEY_DATABASE_URL"] + " " + said["PARLEY_S3_ENDPOINT"])
        assert all(host in services for host in hosts), f"{name} asks {hosts}"
    json.loads(cluster["configs"]["accounts"]["content"])
    check_nginx(conf, asked)


def check_nginx(conf, names):
    if not shutil.which("nginx"):
        return print("  nginx is not here: its file is only read")
    # Their names exist only inside of the cluster.
    for name in names: conf = conf.replace(f"server {name}:", "server 127.0.0.1:")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "conf").write_text(
            f"pid {place}/pid; error_log {place}/log; events {{}} http {{ access_log off; {conf} }}")
        done = subprocess.run(
            ["nginx", "-t", "-p", folder, "-c", place / "conf", "-e", place / "log"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def check_with_docker(path):
    if not shutil.which("docker") or subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        return print("  docker compose is not here: it was not asked")
    done = subprocess.run(
        ["docker", "compose", "-f", path, "config", "--quiet"], capture_output=True, text=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"} | SECRETS)
    assert done.returncode == 0, done.stderr


def main():
    try:
        import yaml
    except ImportError:
        return print("docker/: PyYAML is missing, so the files were not looked at")
    for path in sorted(FOLDER.glob("compose*.yaml")):
        whole = check(path, yaml)
        if path.name == "compose.cluster.yaml":
            check_cluster(whole)
        check_with_docker(path)
        print(f"ok {path.name}: {', '.join(whole['services'])}")


if __name__ == "__main__":
    sys.exit(main())
