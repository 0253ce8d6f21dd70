"""code_size.py on synthetic symbol listings and budgets."""

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


def test_functions_are_parsed_and_data_is_ignored():
    symbols = list(code_size.symbols(LISTING))
    assert [symbol.size for symbol in symbols] == [256, 32, 16]
    assert [symbol.module for symbol in symbols] == [
        "reduce::softmax",
        "shared",
        "matmul::multiply",
    ]
    assert [symbol.instructions for symbol in symbols] == ["baseline", "avx2", "baseline"]
    assert [symbol.element for symbol in symbols] == ["-", "-", "f32"]


def test_libraries_are_named_by_kernel_crate(tmp_path, monkeypatch):
    monkeypatch.setattr(code_size.inlined, "CRATES", ["umber_kernels_sort", "umber_kernels_conv"])
    library = tmp_path / "libumber_kernels_sort-0.rlib"
    monkeypatch.setattr(
        code_size.inlined, "newest", lambda _, crate: library if "sort" in crate else None
    )
    assert code_size.libraries(tmp_path) == {"sort": library}


@pytest.mark.parametrize(
    ("size", "expected"), [(100, []), (105, []), (106, ["sort: 106 bytes, budget 100"])]
)
def test_an_exceeded_budget_is_reported(size, expected):
    complaints = code_size.complaints({"sort": size}, {"sort": 100})
    assert [complaint.split(" in ")[0] for complaint in complaints] == expected


def test_a_missing_budget_is_reported():
    (complaint,) = code_size.complaints({"sort": 1}, {})
    assert "without a budget" in complaint


def test_every_kernel_crate_has_a_budget():
    budget = code_size.read_budget()
    folders = {path.parent.name for path in code_size.ROOT.glob("crates/kernels/*/Cargo.toml")}
    assert folders - {"amx-emulator"} | {"wheel"} == set(budget)
