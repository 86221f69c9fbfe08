"""What is deployed: the image, the compose file and the proxy's configuration, as far as they can be tried without a container engine."""

import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from marketplace.core.errors import all_problems
from tests import ROOT
from tests.waiting import until, until_it_answers

from ..checks import BIN, PRODUCTION, SETTINGS
from ..flows.server import environment
from ..servers import nginx
from ..servers.migrated import copy_sqlite
from ..servers.ports import free_port
from ..servers.process import Process, bare_environment, run

pytestmark = pytest.mark.full
COMPOSE, SANDBOX = ROOT / "deploy" / "compose.yaml", ROOT / "deploy" / "compose.sandbox.yaml"
FILLED = PRODUCTION | {
    "HOST": "shop.example",
    "FILES_HOST": "files.shop.example",
    "POSTGRES_PASSWORD": "secret",
    "DEFAULT_FROM_EMAIL": "shop@shop.example",
    "METRICS_TOKEN": "metrics-token-of-the-tests",
    "SANDBOX_HOST": "sandbox.shop.example",
    "SANDBOX_SECRET_KEY": PRODUCTION["SECRET_KEY"][::-1],
    "SANDBOX_CERTIFICATE_KEY": PRODUCTION["CERTIFICATE_KEY"],
    "SANDBOX_POSTGRES_PASSWORD": "another secret",
}


def compose(path: Path = COMPOSE) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def filled(value: str) -> str:
    """Replace variables as compose does; one that is not known is an error."""
    return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda match: FILLED[match[1]], value)


def image_tree(folder: Path) -> Path:
    """Copy what the build's context lets in."""
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if line.startswith("!"):
            source = ROOT / line[1:]
            assert source.exists(), line
            if source.is_dir():
                shutil.copytree(source, folder / line[1:], ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / line[1:])
    return folder


def test_linter_of_dockerfiles_has_no_complaint() -> None:
    done = run(BIN / "hadolint", "--config", ROOT / ".hadolint.yaml", ROOT / "Dockerfile", env=bare_environment())
    assert done.returncode == 0, done.stdout


def test_image_runs_as_an_unprivileged_user_and_is_built_from_the_lock_file() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    final = text.rpartition("\nFROM ")[2]
    assert "uv sync --locked --no-dev" in text
    assert "\nUSER 10001\n" in final
    assert "HEALTHCHECK" in final
    assert not re.search(r"(SECRET|PASSWORD|TOKEN|KEY)\w*=", text)
    locked = run("uv", "lock", "--check", "--offline", env=bare_environment()) if shutil.which("uv") else None
    assert locked is None or locked.returncode == 0, locked.stderr


def test_image_collects_static_files_and_serves(tmp_path: Path) -> None:
    app, static = image_tree(tmp_path / "app"), str(tmp_path / "static")
    collected = run(
        *(sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"),
        # Compressing the libraries' files takes minutes and shows nothing more.
        *(word for name in ("admin", "drf_spectacular_sidecar", "rest_framework") for word in ("--ignore", name)),
        cwd=app,
        env=bare_environment()
        | {"DJANGO_SETTINGS_MODULE": "marketplace.settings.collect", "DATA_DIR": str(tmp_path / "build"), "STATIC_ROOT": static},
    )
    assert collected.returncode == 0, collected.stderr
    assert (tmp_path / "static" / "staticfiles.json").exists()
    figures = {"METRICS_TOKEN": "m" * 20, "METRICS_DIR": str(tmp_path / "metrics")}
    env = PRODUCTION | figures | {"STATIC_ROOT": static, "DATA_DIR": str(tmp_path / "data")}
    page = (
        "import sys; import marketplace.wsgi; from django.test import Client; "
        "assert 'mcp_types.methods' in sys.modules, 'the first call of an MCP client would load it'; "
        "r = Client().get('/healthz'); assert r.status_code == 200; "
        "r = Client().get('/problems/not_found', secure=True, headers={'host': 'shop.example'}); assert r.status_code == 200, r; "
        "print(r.content.decode())"
    )
    served = run(sys.executable, "-c", page, cwd=app, env=bare_environment() | env)
    assert served.returncode == 0, served.stderr
    assert list((tmp_path / "metrics").iterdir())
    # Static files by the names of their content.
    assert re.search(r"/static/[\w/]+\.[0-9a-f]{12}\.css", served.stdout)


def test_killed_worker_is_started_again(tmp_path: Path) -> None:
    copy_sqlite(tmp_path / "marketplace.sqlite3")
    port = free_port()
    address = f"http://127.0.0.1:{port}/healthz"
    (line,) = re.findall(r"^CMD (.+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    command = [word.replace("--host 0.0.0.0 --port 8000", f"--port {port}") for word in json.loads(line)]
    env = environment(tmp_path, f"http://127.0.0.1:{port}", {"WEB_CONCURRENCY": "1"})
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    server = Process(command, env, tmp_path / "log")
    with server.serving(address):
        assert server.running is not None
        children = Path(f"/proc/{server.running.pid}/task/{server.running.pid}/children")
        worker = children.read_text(encoding="ascii").split()
        os.kill(int(*worker), signal.SIGKILL)
        until(lambda: children.read_text(encoding="ascii").split() not in ([], worker), "a new worker", log=tmp_path / "log")
        until_it_answers(server.running, address, tmp_path / "log")


def test_settings_of_the_compose_file_pass_the_check_of_deployments(tmp_path: Path) -> None:
    services = compose()["services"]
    environment = services["app-1"]["environment"]
    assert [services[name]["environment"] for name in ("app-2", "worker", "prepare")] == [environment] * 3
    check_of_deployments(environment, tmp_path)


def test_settings_of_the_sandbox_beside_it_pass_the_check_and_share_nothing_with_it(tmp_path: Path) -> None:
    production, sandbox = compose(), compose(SANDBOX)
    environment = sandbox["services"]["sandbox"]["environment"]
    assert sandbox["services"]["sandbox-prepare"]["environment"] == environment
    # It says what it is.
    assert "wallet.I001" in check_of_deployments(environment, tmp_path)
    shared = {"TRUST_PROXY_HEADERS"}
    first = production["services"]["app-1"]["environment"]
    assert {name for name in environment.keys() & first.keys() if environment[name] == first[name]} == shared
    assert not sandbox["services"].keys() & (production["services"].keys() - {"proxy"})
    assert not sandbox["volumes"].keys() & production["volumes"].keys()
    assert all(set(service["networks"]) == {"sandbox"} for service in sandbox["services"].values())


def check_of_deployments(environment: dict[str, str], tmp_path: Path) -> str:
    """Run `check --deploy` with the environment of a service; return what it says."""
    given = {name: filled(value) for name, value in environment.items()}
    assert given.keys() <= SETTINGS
    # The image runs as another user than the tests may.
    kept = {name: PRODUCTION[name] for name in ("DJANGO_SETTINGS_MODULE", "INSPECT_AS_ROOT")}
    env = given | kept | {"DATA_DIR": str(tmp_path), "METRICS_DIR": str(tmp_path)}
    done = run(sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING", env=bare_environment() | env)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_compose_file_holds_no_secret_and_nothing_without_a_version() -> None:
    example = (ROOT / "deploy" / ".env.example").read_text(encoding="utf-8")
    for path in (COMPOSE, SANDBOX):
        _judge(compose(path))
    wanted = {name for path in (COMPOSE, SANDBOX) for name in re.findall(r"\$\{(\w+)", path.read_text(encoding="utf-8"))}
    assert wanted == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    secrets = ("SECRET_KEY", "CERTIFICATE_KEY", "POSTGRES_PASSWORD", "S3_SECRET_ACCESS_KEY", "METRICS_TOKEN")
    for secret in (*secrets, *(f"SANDBOX_{name}" for name in secrets[:3])):
        assert f"\n{secret}=\n" in example


def _judge(document: dict[str, Any]) -> None:
    for name, service in document["services"].items():
        # What is added to a service of the main file.
        if name == "proxy" and "image" not in service:
            continue
        image = service["image"]
        assert image == "marketplace:latest" or re.search(r":v?\d", image), name
        assert service["restart"] in {"unless-stopped", "no"}
        if "build" in service:
            assert service["read_only"]
            assert service["cap_drop"] == ["ALL"]


def test_nginx_refusals_have_the_texts_of_our_problems() -> None:
    template = (ROOT / "deploy" / "nginx.conf.template").read_text(encoding="utf-8")
    code, title, detail = (
        dict(re.findall(r'^    (\w+) "?([^"\n]+?)"?;$', template.split(f"map $status $refusal_{name} {{")[1].split("}")[0], re.MULTILINE))
        for name in ("code", "title", "detail")
    )
    assert code.keys() == title.keys() == detail.keys()
    problems = all_problems()
    assert {status: problems[name].title for status, name in code.items()} == title
    # Where more is known than a node says.
    own = {"429", "500", "default"}
    assert {status: problems[name].detail for status, name in code.items() if status not in own} == {
        status: text for status, text in detail.items() if status not in own
    }


def test_configuration_of_the_proxy_is_accepted_by_nginx(tmp_path: Path) -> None:
    path = nginx.configuration(tmp_path)
    done = run(nginx.find_program(), "-t", "-p", tmp_path, "-c", path, env=bare_environment())
    assert done.returncode == 0, done.stderr
    text = (ROOT / "deploy" / "sandbox.conf.template").read_text(encoding="utf-8")
    for shipped, ours in {"${SANDBOX_HOST}": "sandbox.test", "/etc/nginx/tls": str(tmp_path), "sandbox:8000": nginx.NOBODY}.items():
        text = text.replace(shipped, ours)
    (tmp_path / "conf.d" / "sandbox.conf").write_text(text, encoding="utf-8")
    done = run(nginx.find_program(), "-t", "-p", tmp_path, "-c", path, env=bare_environment())
    assert done.returncode == 0, done.stderr
