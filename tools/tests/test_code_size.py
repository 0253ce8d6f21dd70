"""code_size.py on listings and budgets that were made up."""

import code_size
import pytest

LISTING = """
member.o:
0000000000000000 0000000000000100 t umber_kernels_reduce::softmax::totals::{{closure}}
0000000000000100 0000000000000020 t umber_kernels_base::isa::with_avx2
0000000000000120 0000000000000010 T <f32 as umber_kernels_matmul::multiply::Multiply>::multiply
                 U memcpy
0000000000000130 0000000000000008 r a_constant
"""


def test_functions_are_read_and_data_is_not():
    found = list(code_size.symbols(LISTING))
    assert [symbol.size for symbol in found] == [256, 32, 16]
    assert [symbol.module for symbol in found] == ["reduce::softmax", "shared", "matmul::multiply"]
    assert [symbol.instructions for symbol in found] == ["baseline", "avx2", "baseline"]
    assert [symbol.element for symbol in found] == ["-", "-", "f32"]


def test_libraries_are_named_by_family(tmp_path, monkeypatch):
    monkeypatch.setattr(code_size.inlined, "CRATES", ["umber_kernels_sort", "umber_kernels_conv"])
    library = tmp_path / "libumber_kernels_sort-0.rlib"
    monkeypatch.setattr(
        code_size.inlined, "newest", lambda _, crate: library if "sort" in crate else None
    )
    assert code_size.libraries(tmp_path) == {"sort": library}


@pytest.mark.parametrize(
    ("size", "wrong"), [(100, []), (105, []), (106, ["sort: 106 bytes, budget 100"])]
)
def test_what_outgrows_its_budget_is_told(size, wrong):
    found = code_size.complaints({"sort": size}, {"sort": 100})
    assert [complaint.split(" in ")[0] for complaint in found] == wrong


def test_what_has_no_budget_is_told():
    (complaint,) = code_size.complaints({"sort": 1}, {})
    assert "without a budget" in complaint


def test_every_family_has_a_budget():
    budget = code_size.read_budget()
    folders = {path.parent.name for path in code_size.ROOT.glob("crates/kernels/*/Cargo.toml")}
    assert folders - {"amx-emulator"} | {"wheel"} == set(budget)
