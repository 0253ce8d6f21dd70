"""floors.py on small synthetic workspaces: forbidden imports are reported, allowed ones are not."""

import textwrap

import floors
import pytest


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def core(root, **modules):
    """Write an umber-core with these module files and check its modules."""
    write(root, {f"crates/umber-core/src/{name}.rs": text for name, text in modules.items()})
    return floors.check_modules(root)


def crate(name, dependencies="", section="dependencies"):
    return f'[package]\nname = "{name}"\n[{section}]\n{dependencies}\n'


def test_lower_floor_may_be_imported(tmp_path):
    write(tmp_path, {"crates/core/Cargo.toml": crate("umber-core", "umber-types = '1'")})
    assert floors.check_manifests(tmp_path) == []


@pytest.mark.parametrize("section", [*floors.SECTIONS, "target.'cfg(unix)'.dependencies"])
@pytest.mark.parametrize(
    ("name", "dependency"), [("umber-kernels", "umber-core"), ("umber-io", "umber-cuda")]
)
def test_same_or_higher_floor_is_reported(tmp_path, section, name, dependency):
    manifest = crate(name, f"{dependency}.workspace = true", section)
    write(tmp_path, {"crates/x/Cargo.toml": manifest})
    (complaint,) = floors.check_manifests(tmp_path)
    assert dependency in complaint


def test_renamed_dependency_is_resolved(tmp_path):
    manifest = crate("umber-types", "words = { package = 'umber-core', path = '../core' }")
    write(tmp_path, {"crates/x/Cargo.toml": manifest})
    assert len(floors.check_manifests(tmp_path)) == 1


def test_unknown_crate_is_reported(tmp_path):
    write(tmp_path, {"crates/x/Cargo.toml": crate("umber-other")})
    (complaint,) = floors.check_manifests(tmp_path)
    assert "no floor" in complaint


def test_only_the_python_crates_may_use_pyo3(tmp_path):
    write(
        tmp_path,
        {
            "crates/a/Cargo.toml": crate("umber", "pyo3 = '1'"),
            "crates/b/Cargo.toml": crate("umber-python", "pyo3 = '1'"),
        },
    )
    (complaint,) = floors.check_manifests(tmp_path)
    assert complaint.startswith("crates/a/")


def test_every_dependency_has_a_reason_and_every_reason_a_dependency(tmp_path):
    write(
        tmp_path,
        {
            "Cargo.toml": "[workspace.dependencies]\nhalf = '2'\nlibc = '0'\n",
            "crates/a/Cargo.toml": crate("umber", "half.workspace = true\number-core.path = ''"),
            "deny.toml": "# half: 16-bit floats\n# zip: archives\n",
        },
    )
    missing, unused = floors.check_reasons(tmp_path)
    assert "libc" in missing
    assert "zip" in unused


@pytest.mark.parametrize(
    "source",
    [
        "use crate::runtime::run;",
        "use crate::{graph::Array, runtime};",
        "use crate::{self, graph::{self, Array as A}, runtime::{run as go}};",
        "use crate::runtime::*;",
        "fn f() { crate::runtime::run::<u8>() }",
        "use crate::{\n    graph::{Array, Node},\n    runtime::{self, run},\n};",
        "fn f() { crate::runtime::run() }",
        "use super::runtime;",
        "pub(crate) use crate::runtime::run;",
        "fn f<'a>(x: &'a str, c: char) { if c == '\"' { crate::runtime::run() } }",
    ],
)
def test_upward_import_is_found(tmp_path, source):
    complaints = core(tmp_path, graph=source, runtime="")
    assert complaints
    assert all("graph imports runtime" in complaint for complaint in complaints)


@pytest.mark.parametrize(
    "source",
    [
        "use crate::ops::add;",
        "// use crate::runtime;",
        "/* crate::runtime */",
        'const S: &str = "crate::runtime";',
        'const S: &str = r#"crate::runtime"#;',
        "pub(crate) fn runtime() {}",
        "use self::runtime::x; use super::super::runtime;",
        "#[cfg(test)]\nmod tests {\n    use crate::runtime::run;\n    fn f() { {} }\n}\n",
        "#[cfg(test)]\nuse crate::runtime::run;",
        "use crate::Array;",
        "use other::runtime;",
    ],
)
def test_allowed_imports_pass(tmp_path, source):
    nested = {"graph/walk/deep": source.replace("use super::super::", "use super::")}
    assert core(tmp_path, ops="", runtime="", **nested) == []


def test_code_after_a_test_module_is_checked(tmp_path):
    source = "#[cfg(test)] mod tests { use crate::runtime; }\nuse crate::compile;"
    (complaint,) = core(tmp_path, passes=source, runtime="", compile="")
    assert "imports compile" in complaint


def test_reexports_of_the_crate_root_are_followed(tmp_path):
    library = (
        "mod runtime; mod graph; pub use runtime::{run, Worker as Hand}; pub use graph::Array;"
    )
    (complaint,) = core(tmp_path, lib=library, runtime="", graph="use crate::Hand;")
    assert "imports runtime::Worker (by crate::Hand)" in complaint


def test_module_inside_another_may_have_its_own_layer(tmp_path, monkeypatch):
    monkeypatch.setitem(floors.LAYER_OF, "plan::region", "definition")
    assert core(tmp_path, graph="use crate::plan::region::Region;", plan="") == []
    nested = {"plan/region": "use super::super::graph::Array; use crate::plan::cache;"}
    (complaint,) = core(tmp_path, graph="use crate::{plan::{region::Region}};", **nested)
    assert "plan imports plan::cache" in complaint


@pytest.mark.parametrize(
    "source",
    [
        "static HOOK: OnceLock<fn(&Array) -> Result<()>> = OnceLock::new();",
        "pub(crate) static HOOK: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);",
        "static mut HOOK: Option<fn()> = None;",
        "thread_local! { static HOOK: RefCell<Option<fn()>> = const { RefCell::new(None) }; }",
    ],
)
def test_hooks_are_found(tmp_path, source):
    write(tmp_path, {"crates/umber-core/src/graph/node.rs": source})
    (complaint,) = floors.check_hooks(tmp_path)
    assert "HOOK is a hook" in complaint


@pytest.mark.parametrize(
    "source",
    [
        "static TABLE: [fn(f32) -> f32; 2] = [sin, cos];",
        "static COUNT: OnceLock<usize> = OnceLock::new();",
        "fn f(x: &'static dyn Fn()) { let once: OnceLock<u8> = OnceLock::new(); }",
    ],
)
def test_tables_and_values_are_not_hooks(tmp_path, source):
    write(tmp_path, {"crates/umber-core/src/graph/node.rs": source})
    assert floors.check_hooks(tmp_path) == []


def test_transforms_and_plan_may_not_import_each_other(tmp_path):
    complaints = core(
        tmp_path,
        runtime="use crate::transforms::vjp;",
        transforms="use crate::plan::cache;",
        plan="",
    )
    assert len(complaints) == 2


def test_module_without_layer_is_reported(tmp_path):
    (complaint,) = core(tmp_path, gadgets="")
    assert "gadgets has no layer" in complaint


def test_every_layer_has_a_rule():
    assert floors.LAYERS.keys() == floors.ALLOWED.keys()
    for layer, allowed in floors.ALLOWED.items():
        assert all(layer not in floors.ALLOWED[lower] for lower in allowed)
