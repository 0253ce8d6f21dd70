//! Tests once more with lesser instruction sets than the processor's best.

/// Run the tests of this program whose names contain one of `tests`, `count` of them, under each of `sets`, in
/// processes of their own, since a process chooses once.
///
/// # Panics
/// If one fails, or if there are more or fewer.
pub(crate) fn repeat_under(sets: &[&str], tests: &[&str], count: usize) {
    const CHILD: &str = "UMBER_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let this = std::env::current_exe().expect("a test knows its own path");
    for set in sets {
        let output = std::process::Command::new(&this)
            .args(tests)
            .env("UMBER_MAX_CPU_ISA", set)
            .env(CHILD, "1")
            .output()
            .expect("a test can start itself");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "with UMBER_MAX_CPU_ISA={set}: {text}");
        assert!(text.contains(&format!("{count} passed")), "with UMBER_MAX_CPU_ISA={set}: {text}");
    }
}
