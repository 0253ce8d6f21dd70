//! Repeats tests with smaller instruction sets than the processor's.

/// Run the tests of this program whose names contain one of `tests`, `count` in total, under each of `sets`. Each set runs in a
/// child process, since a process selects its instruction set once.
///
/// # Panics
/// If a test fails, or if the number of tests is not `count`.
pub(crate) fn repeat_under(sets: &[&str], tests: &[&str], count: usize) {
    const CHILD: &str = "UMBER_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let program = std::env::current_exe().expect("the path of the test program");
    for set in sets {
        let output = std::process::Command::new(&program)
            .args(tests)
            .env("UMBER_MAX_CPU_ISA", set)
            .env(CHILD, "1")
            .output()
            .expect("the test program can be started");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "with UMBER_MAX_CPU_ISA={set}: {text}");
        assert!(text.contains(&format!("{count} passed")), "with UMBER_MAX_CPU_ISA={set}: {text}");
    }
}
