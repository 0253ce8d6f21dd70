//! Programs of tiles against plain loops. On a processor with tiles they test the processor.

use std::arch::asm;

use super::*;

/// Rows and bytes of a row of each tile.
type Shapes = [(usize, usize)];

/// The bytes that configure tiles, the first ones, in these shapes.
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
    // SAFETY: reads 64 bytes; compiled code keeps nothing in tiles.
    unsafe { asm!("ldtilecfg [{}]", in(reg) configuration, options(nostack, readonly)) };
}

/// Give up this thread's tiles.
fn release() {
    // SAFETY: compiled code keeps nothing in tiles.
    unsafe { asm!("tilerelease", options(nomem, nostack)) };
}

/// A stream of random bits.
fn random() -> impl FnMut() -> u32 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    }
}

/// Random bytes, the same each time.
fn random_bytes(count: usize) -> Vec<u8> {
    std::iter::repeat_with(random()).take(count).map(|bits| (bits >> 24) as u8).collect()
}

/// The word that begins at this byte.
fn word(bytes: &[u8], start: usize) -> Word {
    bytes[start..start + 4].try_into().unwrap()
}

/// Distances between the rows of sums, left and right.
const STRIDES: [usize; 3] = [64, 80, 100];

/// Adds products of tiles in memory: sums, left and right.
type Product = fn(&mut [u8], &[u8], &[u8]);

macro_rules! products {
    ($($name:ident: $mnemonic:literal;)*) => {$(
        /// Add the products of the instruction of this name.
        fn $name(sums: &mut [u8], left: &[u8], right: &[u8]) {
            let lengths = [sums.len(), left.len(), right.len()];
            assert!(lengths.iter().zip(STRIDES).all(|(&length, row)| length >= 16 * row));
            // SAFETY: sixteen rows are within the slices; compiled code keeps nothing in tiles.
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

/// Compare all of memory after a product with a loop that gives each sum the pairs of its words.
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
fn bytes_are_multiplied_with_their_signs() {
    let signed = |byte: u8| i64::from(byte.cast_signed());
    let unsigned = |byte: u8| i64::from(byte);
    let (left, right) = (random_bytes(16 * STRIDES[1]), random_bytes(16 * STRIDES[2]));
    let mut sums = random_bytes(16 * STRIDES[0]);
    // Sums that pass the greatest and the least number start over.
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
fn halves_are_multiplied_in_two_sums() {
    let half = |bits: u16| f32::from_bits(u32::from(bits) << 16);
    // Exponents of factors and sums: all are rounded, products are flushed or nearly so, factors are flushed.
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
            let read = |word: Word, at: usize| flushed(half(u16::from_le_bytes([word[at], word[at + 1]])));
            let (mut even, mut odd) = (0f32, 0f32);
            for (x, y) in pairs {
                even = flushed(read(x, 0).mul_add(read(y, 0), even));
                odd = flushed(read(x, 2).mul_add(read(y, 2), odd));
            }
            flushed(flushed(f32::from_le_bytes(sum)) + flushed(even + odd)).to_le_bytes()
        });
    }
}

/// The first sum of products of bfloat16, given as float32.
fn sum_of_halves(start: f32, left: &[f32], right: &[f32]) -> f32 {
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
fn halves_are_added_up_as_documented() {
    let big = 2f32.powi(24);
    // The first sum loses its one, the second keeps it.
    assert_eq!(sum_of_halves(0.5, &[big, -big, 1.0, 1.0], &[1.0; 4]), 1.5);
    // A product is not rounded before it is added.
    let (x, near) = (1.0 + 2f32.powi(-7), 1.0 + 2f32.powi(-6));
    assert_eq!(sum_of_halves(0.0, &[-near, 0.0, x], &[1.0, 0.0, x]), 2f32.powi(-14));
    // What is too small is flushed at once, not when all is added up.
    assert_eq!(sum_of_halves(0.0, &[f32::MIN_POSITIVE, 0.0, f32::MIN_POSITIVE], &[0.5; 3]), 0.0);
    assert_eq!(sum_of_halves(0.0, &[f32::MIN_POSITIVE / 2.0], &[big]), 0.0);
    assert_eq!(sum_of_halves(f32::MIN_POSITIVE / 2.0, &[], &[]), 0.0);
    assert_eq!(sum_of_halves(1.0, &[f32::INFINITY], &[-1.0]), f32::NEG_INFINITY);
    assert!(sum_of_halves(1.0, &[f32::INFINITY], &[0.0]).is_nan());
}

/// Load a tile of 5 rows of 20 bytes and store it elsewhere, both by an address of this form.
macro_rules! moves {
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
            // SAFETY: five rows either way are within the vectors; the registers are restored.
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
    moves! {
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
fn the_stack_is_a_base_and_no_index_a_stride_of_zero() {
    install();
    configure(&configuration(&[(16, 64), (3, 8)]));
    let source = random_bytes(1024);
    let (mut through_stack, mut repeated) = (vec![0u8; 1024], vec![0u8; 24]);
    // SAFETY: sixteen rows are within what is taken off the stack and within the vectors, or three of eight
    // bytes within the last; compiled code keeps nothing in tiles.
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

/// Rows and bytes of a row of the first tile.
fn first_shape() -> (usize, usize) {
    let mut bytes = [0u8; 1024];
    // SAFETY: one row read and sixteen written at most; compiled code keeps nothing in tiles.
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
fn configurations_are_read_by_any_form_of_address() {
    /// One tile of two rows of eight bytes.
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
            // SAFETY: reads one of the configurations; compiled code keeps nothing in tiles.
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
fn threads_have_tiles_of_their_own() {
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

/// The signal that ends a child process which does this, if one does.
fn ending(body: impl FnOnce()) -> Option<libc::c_int> {
    // SAFETY: the child runs a few instructions and leaves without running anything of the parent's.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: says that nothing is to be written down of how the child ends; ends it.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
        body();
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}

#[test]
fn mistakes_are_faults() {
    /// Ends of a child that runs the instruction after the configuration: mistakes raise the signal.
    macro_rules! ends {
        ($($signal:expr, $configuration:expr, $instruction:literal;)*) => {$(
            let configuration = $configuration;
            let end = ending(|| {
                configure(&configuration);
                // SAFETY: reads or writes nothing, or no more than sixteen rows of 64 bytes.
                unsafe { asm!($instruction, in("rax") &mut [0u8; 1024], in("rcx") 64usize) };
            });
            assert_eq!(end, $signal, concat!($instruction, " after ", stringify!($configuration)));
        )*};
    }
    let shapes = |sums, left, right| configuration(&[sums, left, right]);
    let with = |at: usize, byte: u8| {
        let mut bytes = configuration(&[(16, 64); 8]);
        bytes[at] = byte;
        bytes
    };
    let unknown = Some(libc::SIGILL);
    // The processor's own answer to a bad configuration is another.
    install();
    let invalid = Some(if is_emulating() { libc::SIGILL } else { libc::SIGSEGV });
    ends! {
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
        // The assembler refuses to name a tile twice.
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
