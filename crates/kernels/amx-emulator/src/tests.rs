//! AMX instruction sequences against plain loops. On a processor with AMX they test the processor.

use std::arch::asm;

use super::*;

/// Rows and bytes per row of each tile.
type Shapes = [(usize, usize)];

/// The 64 bytes of a configuration with these shapes for the first tiles.
fn configuration(shapes: &Shapes) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[0] = 1;
    for (tile, &(rows, row_bytes)) in shapes.iter().enumerate() {
        bytes[16 + 2 * tile] = row_bytes as u8;
        bytes[48 + tile] = rows as u8;
    }
    bytes
}

/// Configure this thread's tiles.
fn configure(configuration: &[u8; 64]) {
    // SAFETY: reads 64 bytes; compiled code does not use tile registers.
    unsafe { asm!("ldtilecfg [{}]", in(reg) configuration, options(nostack, readonly)) };
}

/// Release this thread's tiles.
fn release() {
    // SAFETY: compiled code does not use tile registers.
    unsafe { asm!("tilerelease", options(nomem, nostack)) };
}

/// A generator of pseudo-random bits.
fn random() -> impl FnMut() -> u32 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    }
}

/// Pseudo-random bytes, the same at every call.
fn random_bytes(count: usize) -> Vec<u8> {
    std::iter::repeat_with(random()).take(count).map(|bits| (bits >> 24) as u8).collect()
}

/// The word that starts at this byte.
fn word(bytes: &[u8], start: usize) -> Word {
    bytes[start..start + 4].try_into().unwrap()
}

/// Row strides in bytes of sums, left and right operand.
const STRIDES: [usize; 3] = [64, 80, 100];

/// Adds a product of tiles in memory: sums, left, right.
type Product = fn(&mut [u8], &[u8], &[u8]);

macro_rules! products {
    ($($name:ident: $mnemonic:literal;)*) => {$(
        /// Load the tiles, execute the instruction of this name and store the sums.
        fn $name(sums: &mut [u8], left: &[u8], right: &[u8]) {
            let lengths = [sums.len(), left.len(), right.len()];
            assert!(lengths.iter().zip(STRIDES).all(|(&length, row)| length >= 16 * row));
            // SAFETY: sixteen rows are inside the slices; compiled code does not use tile registers.
            unsafe {
                asm!(
                    "tileloadd tmm1, [{sums} + {sum}]",
                    "tileloaddt1 tmm4, [{left} + {row}]",
                    "tileloadd tmm6, [{right} + {column}]",
                    concat!($mnemonic, " tmm1, tmm4, tmm6"),
                    "tilestored [{sums} + {sum}], tmm1",
                    sums = in(reg) sums.as_mut_ptr(),
                    left = in(reg) left.as_ptr(),
                    right = in(reg) right.as_ptr(),
                    sum = in(reg) STRIDES[0],
                    row = in(reg) STRIDES[1],
                    column = in(reg) STRIDES[2],
                    options(nostack),
                );
            }
        }
    )*};
}

products! {
    tdpbssd: "tdpbssd";
    tdpbsud: "tdpbsud";
    tdpbusd: "tdpbusd";
    tdpbuud: "tdpbuud";
    tdpbf16ps: "tdpbf16ps";
}

/// Compare the whole memory of the sums after a product with a loop that applies `add` to the pairs of words of each sum.
fn check(
    product: Product,
    [sums, left, right]: [&[u8]; 3],
    add: impl Fn(Word, &mut dyn Iterator<Item = (Word, Word)>) -> Word,
) {
    install();
    for (rows, depth, columns) in [(16, 16, 16), (5, 5, 3), (1, 1, 1), (16, 1, 16), (3, 16, 2), (7, 9, 16)] {
        let before = emulated();
        let mut shapes = [(0, 0); 7];
        (shapes[1], shapes[4], shapes[6]) = ((rows, 4 * columns), (rows, 4 * depth), (depth, 4 * columns));
        configure(&configuration(&shapes));
        let mut result = sums.to_vec();
        product(&mut result, left, right);
        release();
        assert_eq!(emulated() - before, if is_emulating() { 7 } else { 0 });
        let mut expected = sums.to_vec();
        for (m, n) in (0..rows).flat_map(|m| (0..columns).map(move |n| (m, n))) {
            let pair = |k| (word(left, m * STRIDES[1] + 4 * k), word(right, k * STRIDES[2] + 4 * n));
            let start = m * STRIDES[0] + 4 * n;
            let sum = add(word(sums, start), &mut (0..depth).map(pair));
            expected[start..start + 4].copy_from_slice(&sum);
        }
        assert!(result == expected, "{rows} by {depth} by {columns}");
    }
}

#[test]
fn byte_products_respect_signedness() {
    let signed = |byte: u8| i64::from(byte.cast_signed());
    let unsigned = |byte: u8| i64::from(byte);
    let (left, right) = (random_bytes(16 * STRIDES[1]), random_bytes(16 * STRIDES[2]));
    let mut sums = random_bytes(16 * STRIDES[0]);
    // Sums at the limits of int32 wrap around.
    sums[..64].copy_from_slice(&[i32::MAX.to_le_bytes(), i32::MIN.to_le_bytes()].as_flattened().repeat(8));
    type Value = fn(u8) -> i64;
    let values: [(Product, [Value; 2]); 4] = [
        (tdpbssd, [signed, signed]),
        (tdpbsud, [signed, unsigned]),
        (tdpbusd, [unsigned, signed]),
        (tdpbuud, [unsigned, unsigned]),
    ];
    for (product, [of_left, of_right]) in values {
        check(product, [&sums, &left, &right], |sum, pairs| {
            let products = pairs.flat_map(|(x, y)| (0..4).map(move |i| of_left(x[i]) * of_right(y[i])));
            ((i64::from(i32::from_le_bytes(sum)) + products.sum::<i64>()) as i32).to_le_bytes()
        });
    }
}

#[test]
fn bfloat16_products_accumulate_in_two_sums() {
    let bfloat16 = |bits: u16| f32::from_bits(u32::from(bits) << 16);
    // Exponent ranges of factors and sums: ordinary rounding, products near the subnormal limit, subnormal factors.
    for (factors, sums) in [(124..131, 124..131), (60..68, 0..12), (0..3, 0..3)] {
        let mut random = random();
        let mut bytes = |exponents: &std::ops::Range<u32>, count: usize| {
            let number = |bits: u32| {
                let exponent = exponents.start + (bits >> 16) % (exponents.end - exponents.start);
                (bits & 0x807F | exponent << 7) as u16
            };
            (0..count / 2).flat_map(|_| number(random()).to_le_bytes()).collect::<Vec<u8>>()
        };
        let [sums, left, right] =
            [(&sums, 0), (&factors, 1), (&factors, 2)].map(|(range, at)| bytes(range, 16 * STRIDES[at]));
        check(tdpbf16ps, [&sums, &left, &right], |sum, pairs| {
            let flushed = |x: f32| if x.is_subnormal() { x * 0.0 } else { x };
            let read =
                |word: Word, at: usize| flushed(bfloat16(u16::from_le_bytes([word[at], word[at + 1]])));
            let (mut even, mut odd) = (0f32, 0f32);
            for (x, y) in pairs {
                even = flushed(read(x, 0).mul_add(read(y, 0), even));
                odd = flushed(read(x, 2).mul_add(read(y, 2), odd));
            }
            flushed(flushed(f32::from_le_bytes(sum)) + flushed(even + odd)).to_le_bytes()
        });
    }
}

/// The first sum of a product of bfloat16 vectors, which are given as float32.
fn sum_of_bfloat16s(start: f32, left: &[f32], right: &[f32]) -> f32 {
    install();
    let [mut sums, mut rows, mut columns] = STRIDES.map(|stride| vec![0; 16 * stride]);
    sums[..4].copy_from_slice(&start.to_le_bytes());
    for (at, (x, y)) in left.iter().zip(right).enumerate() {
        rows[2 * at..2 * at + 2].copy_from_slice(&x.to_le_bytes()[2..]);
        let at = at / 2 * STRIDES[2] + at % 2 * 2;
        columns[at..at + 2].copy_from_slice(&y.to_le_bytes()[2..]);
    }
    configure(&configuration(&[(16, 64); 8]));
    tdpbf16ps(&mut sums, &rows, &columns);
    release();
    f32::from_le_bytes(word(&sums, 0))
}

#[test]
fn bfloat16_sums_round_and_flush_as_documented() {
    let big = 2f32.powi(24);
    // The even sum loses its one by rounding, the odd sum keeps it.
    assert_eq!(sum_of_bfloat16s(0.5, &[big, -big, 1.0, 1.0], &[1.0; 4]), 1.5);
    // The FMA does not round the product.
    let (x, near) = (1.0 + 2f32.powi(-7), 1.0 + 2f32.powi(-6));
    assert_eq!(sum_of_bfloat16s(0.0, &[-near, 0.0, x], &[1.0, 0.0, x]), 2f32.powi(-14));
    // Subnormal products are flushed immediately, not after the summation.
    assert_eq!(sum_of_bfloat16s(0.0, &[f32::MIN_POSITIVE, 0.0, f32::MIN_POSITIVE], &[0.5; 3]), 0.0);
    assert_eq!(sum_of_bfloat16s(0.0, &[f32::MIN_POSITIVE / 2.0], &[big]), 0.0);
    assert_eq!(sum_of_bfloat16s(f32::MIN_POSITIVE / 2.0, &[], &[]), 0.0);
    assert_eq!(sum_of_bfloat16s(1.0, &[f32::INFINITY], &[-1.0]), f32::NEG_INFINITY);
    assert!(sum_of_bfloat16s(1.0, &[f32::INFINITY], &[0.0]).is_nan());
}

/// Load a tile of 5 rows of 20 bytes and store it elsewhere, both with this addressing form.
macro_rules! copies {
    ($($base:literal + $index:literal * $scale:literal + $displacement:literal;)*) => {$(
        for stride in [64isize, 80, 320, -24] {
            const MIDDLE: usize = 8 * 320;
            let source = random_bytes(2 * MIDDLE);
            let mut target = vec![0; 2 * MIDDLE];
            let mut expected = target.clone();
            for row in 0..5 {
                let start = MIDDLE.wrapping_add_signed(row * stride);
                expected[start..start + 20].copy_from_slice(&source[start..start + 20]);
            }
            // SAFETY: five rows in either direction are inside the vectors; the registers are restored.
            unsafe {
                asm!(
                    concat!("push ", $base),
                    concat!("push ", $index),
                    concat!("mov ", $base, ", rax"),
                    concat!("mov ", $index, ", rcx"),
                    concat!("tileloadd tmm3, [", $base, "+", $index, "*", $scale, "+", $displacement, "]"),
                    concat!("mov ", $base, ", rdx"),
                    concat!("tilestored [", $base, "+", $index, "*", $scale, "+", $displacement, "], tmm3"),
                    concat!("pop ", $index),
                    concat!("pop ", $base),
                    in("rax") source.as_ptr().wrapping_add(MIDDLE).wrapping_offset(-$displacement),
                    in("rdx") target.as_mut_ptr().wrapping_add(MIDDLE).wrapping_offset(-$displacement),
                    in("rcx") stride / $scale,
                );
            }
            assert!(target == expected, concat!($base, "+", $index, "*", $scale, "+", $displacement));
        }
    )*};
}

#[test]
fn rows_are_addressed_by_base_index_scale_and_displacement() {
    install();
    configure(&configuration(&[(0, 0), (0, 0), (0, 0), (5, 20)]));
    copies! {
        "rax" + "rcx" * 1 + 0;
        "rax" + "r8" * 8 + 127;
        "rbx" + "rbp" * 2 + 128;
        "rbp" + "rbx" * 1 + 0;
        "rbp" + "r12" * 4 + -128;
        "rsi" + "rdi" * 2 + -129;
        "rdi" + "rsi" * 4 + 74565;
        "r8" + "r15" * 1 + 8;
        "r9" + "r14" * 2 + -1000000;
        "r10" + "r13" * 8 + 1;
        "r11" + "r12" * 1 + 0;
        "r12" + "r11" * 1 + 0;
        "r13" + "r10" * 4 + 0;
        "r13" + "rbp" * 1 + 2147483647;
        "r14" + "r9" * 8 + -2147483648;
        "r15" + "r8" * 2 + 64;
    }
    release();
}

#[test]
fn rsp_is_a_valid_base_and_a_missing_index_means_stride_zero() {
    install();
    configure(&configuration(&[(16, 64), (3, 8)]));
    let source = random_bytes(1024);
    let (mut through_stack, mut repeated) = (vec![0u8; 1024], vec![0u8; 24]);
    // SAFETY: sixteen rows are inside the stack area reserved here and the vectors, and three rows of eight bytes inside
    // the last one; compiled code does not use tile registers.
    unsafe {
        asm!(
            "sub rsp, 1024",
            "tileloadd tmm0, [{source} + {row}]",
            "tilestored [rsp + {row}], tmm0",
            "tilezero tmm0",
            "sub rsp, 512",
            "tileloadd tmm0, [rsp + {row} + 512]",
            "tilestored [{stack} + {row}], tmm0",
            "add rsp, 1536",
            "tileloadd tmm1, [{source}]",
            "tilestored [{repeated} + {short}], tmm1",
            source = in(reg) source.as_ptr(),
            stack = in(reg) through_stack.as_mut_ptr(),
            repeated = in(reg) repeated.as_mut_ptr(),
            row = in(reg) 64usize,
            short = in(reg) 8usize,
        );
    }
    release();
    assert!(through_stack == source);
    assert_eq!(repeated, source[..8].repeat(3));
}

/// Rows and bytes per row of tile 0, determined by loading a tile of ones.
fn first_shape() -> (usize, usize) {
    let mut bytes = [0u8; 1024];
    // SAFETY: one row is read and at most sixteen are written; compiled code does not use tile registers.
    unsafe {
        asm!(
            "tileloadd tmm0, [{ones}]",
            "tilestored [{bytes} + {row}], tmm0",
            ones = in(reg) &[1u8; 64],
            bytes = in(reg) &raw mut bytes,
            row = in(reg) 64usize,
            options(nostack),
        );
    }
    let count = |bytes: &[u8]| bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>();
    (count(&bytes) / count(&bytes[..64]), count(&bytes[..64]))
}

#[test]
fn configurations_are_read_with_any_addressing_form() {
    /// One tile with two rows of eight bytes.
    static CONFIGURATION: [u8; 64] = {
        let mut bytes = [0; 64];
        (bytes[0], bytes[16], bytes[48]) = (1, 8, 2);
        bytes
    };
    install();
    let all: [[u8; 64]; 12] = std::array::from_fn(|at| configuration(&[(at + 1, 4 * at + 4)]));
    let all = all.as_flattened().as_ptr();
    macro_rules! forms {
        ($($shape:expr, $address:literal, $rax:expr, $rcx:expr;)*) => {$(
            // SAFETY: reads one of the configurations; compiled code does not use tile registers.
            unsafe {
                asm!(
                    "push r13",
                    "mov r13, rax",
                    concat!("ldtilecfg [", $address, "]"),
                    "pop r13",
                    in("rax") all.wrapping_offset($rax),
                    in("rcx") $rcx,
                );
            }
            assert_eq!(first_shape(), $shape, $address);
        )*};
    }
    forms! {
        (1, 4), "rax", 0, 0usize;
        (2, 8), "r13", 64, 0usize;
        (3, 12), "rax + 64", 64, 0usize;
        (4, 16), "r13 - 128", 320, 0usize;
        (5, 20), "rax + 305419896", 256 - 305419896, 0usize;
        (6, 24), "r13 + rcx * 8", 0, 40usize;
        (7, 28), "rax + rcx * 4 - 64", 64, 96usize;
        (8, 32), "rcx * 2 + 8", 0, (all as usize + 448 - 8) / 2;
    }
    // SAFETY: as above.
    unsafe { asm!("ldtilecfg [rip + {}]", sym CONFIGURATION, options(nostack, readonly)) };
    assert_eq!(first_shape(), (2, 8));
    release();
}

#[test]
fn tiles_are_per_thread() {
    install();
    configure(&configuration(&[(7, 12)]));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let before = emulated();
            configure(&configuration(&[(2, 8)]));
            assert_eq!(first_shape(), (2, 8));
            release();
            assert_eq!(emulated() - before, if is_emulating() { 4 } else { 0 });
        });
    });
    assert_eq!(first_shape(), (7, 12));
    release();
}

/// The signal that kills a child process which runs `body`, if any.
fn signal_of(body: impl FnOnce()) -> Option<libc::c_int> {
    // SAFETY: the child executes a few instructions and exits without running any of the parent's code.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: disables core dumps of the child.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
        body();
        // SAFETY: exits the child.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child forked above.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}

#[test]
fn invalid_instructions_fault() {
    /// Each row runs an instruction in a child after a configuration, and checks the signal that it raises.
    macro_rules! signals {
        ($($signal:expr, $configuration:expr, $instruction:literal;)*) => {$(
            let configuration = $configuration;
            let signal = signal_of(|| {
                configure(&configuration);
                // SAFETY: accesses no memory, or at most sixteen rows of 64 bytes.
                unsafe { asm!($instruction, in("rax") &mut [0u8; 1024], in("rcx") 64usize) };
            });
            assert_eq!(signal, $signal, concat!($instruction, " after ", stringify!($configuration)));
        )*};
    }
    let shapes = |sums, left, right| configuration(&[sums, left, right]);
    let with = |at: usize, byte: u8| {
        let mut bytes = configuration(&[(16, 64); 8]);
        bytes[at] = byte;
        bytes
    };
    let unknown = Some(libc::SIGILL);
    // A processor with AMX raises another signal for an invalid configuration.
    install();
    let invalid = Some(if is_emulating() { libc::SIGILL } else { libc::SIGSEGV });
    signals! {
        None, shapes((3, 8), (3, 20), (5, 8)), "tdpbusd tmm0, tmm1, tmm2";
        unknown, shapes((4, 8), (3, 20), (5, 8)), "tdpbusd tmm0, tmm1, tmm2";
        unknown, shapes((3, 8), (3, 24), (5, 8)), "tdpbusd tmm0, tmm1, tmm2";
        unknown, shapes((3, 8), (3, 19), (5, 8)), "tdpbf16ps tmm0, tmm1, tmm2";
        unknown, shapes((3, 8), (3, 20), (5, 12)), "tdpbssd tmm0, tmm1, tmm2";
        unknown, shapes((3, 6), (3, 20), (5, 6)), "tdpbf16ps tmm0, tmm1, tmm2";
        unknown, shapes((3, 8), (3, 20), (5, 8)), "tdpbuud tmm0, tmm1, tmm3";
        unknown, [0; 64], "tdpbuud tmm0, tmm1, tmm2";
        None, [0; 64], "nop";
        None, with(0, 1), "tdpbsud tmm0, tmm1, tmm2";
        unknown, with(0, 0), "tdpbsud tmm0, tmm1, tmm2";
        // The assembler rejects duplicate tiles.
        unknown, with(0, 1), ".byte 0xc4, 0xe2, 0x6b, 0x5e, 0xc0 /* tdpbssd tmm0, tmm0, tmm2 */";
        unknown, with(0, 1), ".byte 0xc4, 0xe2, 0x73, 0x5e, 0xc1 /* tdpbssd tmm0, tmm1, tmm1 */";
        unknown, with(0, 1), ".byte 0xc4, 0xe2, 0x7b, 0x5e, 0xc1 /* tdpbssd tmm0, tmm1, tmm0 */";
        None, with(0, 1), "tilezero tmm7";
        unknown, shapes((16, 64), (16, 64), (16, 64)), "tilezero tmm3";
        unknown, [0; 64], "tilezero tmm0";
        unknown, with(0, 1), "tilerelease; tilezero tmm0";
        None, with(0, 1), "tileloadd tmm7, [rax + rcx]";
        unknown, shapes((16, 64), (16, 64), (16, 64)), "tileloadd tmm3, [rax + rcx]";
        unknown, with(16, 62), "tileloadd tmm0, [rax + rcx]";
        None, with(0, 1), "tilestored [rax + rcx], tmm7";
        unknown, shapes((16, 64), (16, 64), (16, 64)), "tilestored [rax + rcx], tmm3";
        invalid, with(0, 2), "nop";
        invalid, with(2, 1), "nop";
        invalid, with(16, 65), "nop";
        invalid, with(17, 1), "nop";
        invalid, with(16, 0), "nop";
        invalid, with(32, 1), "nop";
        invalid, with(48, 17), "nop";
        invalid, with(48, 0), "nop";
        invalid, with(56, 1), "nop";
        unknown, with(0, 1), "ud2";
        Some(libc::SIGSEGV), with(0, 1), "tileloadd tmm0, [rcx + rcx]";
    }
}
