"""inlined.py on symbol listings, and on a library built for the test."""

import platform
import shutil
import subprocess

import inlined
import pytest

FUNCTION = "_RNvNtNtNtCsgEmfK2I1SDS_4core9core_arch3x867avx512f15__mm512_fmadd_ps"
LEGACY = "_ZN4core9core_arch3x864avx215_mm256_add_epi817h0123456789abcdefE"
OTHER = "_RNvNtCs123_18umber_kernels_base3isa5level"


def test_intrinsics_compiled_as_functions_are_found():
    listing = f"\nmember.o:\n0000000000000010 t {FUNCTION}\n0000000000000000 T {OTHER}\n"
    assert inlined.called(listing) == ["_mm512_fmadd_ps"]
    assert inlined.called(f"0000000000000000 t {OTHER}\n") == []


def test_legacy_mangling_is_parsed():
    assert inlined.called(f"0000000000000000 W {LEGACY}\n")


def test_undefined_symbols_are_ignored():
    assert inlined.called(f"                 U {FUNCTION}\n") == []


def test_builds_with_assertions_are_recognized():
    listing = (
        "                 U _RNvNtNtCs1_4core9panicking11panic_const24panic_const_add_overflow\n"
    )
    assert inlined.has_assertions(listing)
    assert not inlined.has_assertions(f"0000000000000000 t {FUNCTION}\n")


def test_adapters_called_by_vectorised_functions_are_found():
    fold = "_ZN4core4iter8adapters3map8Map4fold17h0123456789abcdefE"
    caller = "RELOCATION RECORDS FOR [.text._ZN18umber_kernels_base3isa9with_avx217h01E]:\n"
    other = "RELOCATION RECORDS FOR [.text._ZN18umber_kernels_sort4sort4sort17h01E]:\n"
    call = f"OFFSET TYPE VALUE\n000000000000003e R_X86_64_PLT32        {fold}-0x0000000000000004\n"
    own = call.replace(fold, "_ZN18umber_kernels_base3isa6detect17h0123456789abcdefE")
    assert inlined.adapters(caller + call) == [fold]
    assert inlined.adapters(other + call) == []
    assert inlined.adapters(caller + own + other + call) == []


@pytest.mark.skipif(not (shutil.which("rustc") and shutil.which("nm")), reason="needs rustc and nm")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs AVX")
@pytest.mark.parametrize("is_inlined", [True, False])
def test_a_compiled_library_is_checked(tmp_path, monkeypatch, capsys, is_inlined):
    source = tmp_path / "umber_kernels_sort.rs"
    feature = '#[target_feature(enable = "avx")]' if is_inlined else ""
    source.write_text(
        f"""
        use std::arch::x86_64::*;
        {feature}
        #[inline(never)]
        pub unsafe fn twice(to: *mut f32) {{
            unsafe {{
                let x = _mm256_loadu_ps(to);
                _mm256_storeu_ps(to, _mm256_add_ps(x, x));
            }}
        }}
        """
    )
    library = tmp_path / "release" / "deps" / "libumber_kernels_sort-0.rlib"
    library.parent.mkdir(parents=True)
    options = ["--edition=2024", "--crate-type=rlib", "-O", "-Cembed-bitcode=no"]
    command = ["rustc", *options, "-o", library, source]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    monkeypatch.setattr(inlined, "CRATES", ["umber_kernels_sort"])
    assert inlined.main() == (0 if is_inlined else 1)
    assert ("_mm256_add_ps" in capsys.readouterr().out) is not is_inlined


def test_all_kernel_crates_are_checked():
    assert {"umber_kernels_base", "umber_kernels_conv"} <= set(inlined.CRATES)
    assert "umber_kernels_amx-emulator" not in inlined.CRATES


def test_a_missing_library_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    assert inlined.main() == 1
