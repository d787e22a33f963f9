"""The import contracts of pyproject.toml hold, and break when they should."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = ROOT / "pyproject.toml"
CONTRACTS: dict[str, dict[str, Any]] = {
    contract["id"]: contract
    for contract in tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
}
LAYERS: list[str] = [name for layer in CONTRACTS["layers"]["layers"] for name in re.findall(r"\w+", layer)]
PURE_PARTS: list[str] = [
    module.removeprefix("ipmicra.") for module in CONTRACTS["pure-core"]["source_modules"]
]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """A package with every layer, empty but for allowed imports, under the contracts of this project."""
    shutil.copy(PYPROJECT, tmp_path)
    package = tmp_path / "ipmicra"
    for name in LAYERS + [part for part in PURE_PARTS if part.startswith("lab.")]:
        folder = package / name.replace(".", "/")
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    for name in ("geo.py", "types.py"):
        (package / "model" / name).write_text("import numpy\n")
    for name in CONTRACTS["laboratory"]["allowed_importers"]:
        (tmp_path / f"{name.replace('.', '/')}.py").write_text("import ipmicra.lab\n")
    (package / "__init__.py").write_text("from ipmicra.app import facade\n")
    (package / "__main__.py").write_text("import ipmicra.cli\n")
    (package / "app" / "facade.py").write_text("import ipmicra.edge\nimport ipmicra.hierarchy\n")
    (package / "edge" / "fetch.py").write_text("import requests\n")
    (package / "hierarchy" / "nest.py").write_text("import numpy\nimport socket\nimport ipmicra.parse\n")
    return package


def test_this_package_keeps_its_contracts() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_allowed_imports_keep_the_contracts(skeleton: Path) -> None:
    result = lint_imports(skeleton.parent)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("file", "source", "contract"),
    [
        pytest.param("parse/bad.py", "import ipmicra.hierarchy", "layers", id="a low layer imports a high"),
        pytest.param("parse/bad.py", "import ipmicra.wire", "layers", id="a layer imports the one beside it"),
        pytest.param("hierarchy/bad.py", "from ipmicra import Hierarchy", "layers", id="through the facade"),
        pytest.param("surplus.py", "", "layers", id="a module outside the layers"),
        pytest.param("parse/bad.py", "import requests", "pure-core", id="the core asks the network"),
        pytest.param("hierarchy/bad.py", "def f():\n    import sqlite3", "pure-core", id="inside a function"),
        pytest.param("cli/bad.py", "import ipmicra.lab", "laboratory", id="a command of the product"),
        pytest.param("cli/bad.py", "import ipmicra.edge", "thin-commands", id="a command does I/O itself"),
        pytest.param("model/bad.py", "import numpy", "plain-model", id="the model needs a third party"),
    ],
)
def test_forbidden_import_breaks_its_contract(skeleton: Path, file: str, source: str, contract: str) -> None:
    (skeleton / file).write_text(source + "\n")
    result = lint_imports(skeleton.parent)
    assert result.returncode == 1, result.stdout + result.stderr
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    assert f"{CONTRACTS[contract]['name']} BROKEN" in plain


def test_every_layer_below_the_edge_is_held_pure() -> None:
    below = set(LAYERS[LAYERS.index("edge") + 1 :])
    assert {part for part in PURE_PARTS if not part.startswith("lab.")} == below


def test_commands_import_use_cases_nouns_and_errors_only() -> None:
    allowed = {"cli", "lab", "app", "model", "errors"}
    forbidden = {
        module.removeprefix("ipmicra.") for module in CONTRACTS["thin-commands"]["forbidden_modules"]
    }
    assert forbidden == set(LAYERS) - allowed


def test_parts_of_the_laboratory_that_need_no_app_and_no_edge_are_held_pure() -> None:
    graph = grimp.build_graph("ipmicra", cache_dir=None)
    impure = graph.find_downstream_modules("ipmicra.edge", as_package=True)
    parts = {part for part in graph.find_children("ipmicra.lab") if graph.find_descendants(part)}
    pure = {part for part in parts if not graph.find_descendants(part) & impure}
    assert {f"ipmicra.{part}" for part in PURE_PARTS if part.startswith("lab.")} == pure


def test_only_modules_about_columns_make_the_model_import_numpy() -> None:
    graph = grimp.build_graph("ipmicra", cache_dir=None)
    about_columns = {"ipmicra.model.geo", "ipmicra.model.types"}
    others = graph.find_descendants("ipmicra.model") - about_columns
    assert {
        module for module in others if graph.find_modules_directly_imported_by(module) & about_columns
    } == set()


def test_nothing_inside_the_package_imports_the_public_names() -> None:
    # They are loaded from a stub, which import-linter does not read: the layers contract would not notice.
    graph = grimp.build_graph("ipmicra", cache_dir=None)
    assert graph.find_modules_that_directly_import("ipmicra") == set()


def test_model_imports_the_standard_library_and_numpy_for_columns_only() -> None:
    graph = grimp.build_graph("ipmicra", include_external_packages=True, cache_dir=None)
    foreign = {
        (module, imported)
        for module in {"ipmicra.model", "ipmicra.errors"} | graph.find_descendants("ipmicra.model")
        for imported in graph.find_modules_directly_imported_by(module)
        if imported.split(".")[0] not in sys.stdlib_module_names | {"ipmicra"}
    }
    assert foreign <= {("ipmicra.model.geo", "numpy"), ("ipmicra.model.types", "numpy")}
