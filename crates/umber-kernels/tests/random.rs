//! Random bits against published test vectors, MLX's samples and the definition.

use proptest::prelude::*;
use umber_kernels::random::{random_bits, threefry2x32};
use umber_kernels::{View, ViewMut};
use umber_types::{DType, Layout, Shape};

fn key(seed: u64) -> [u32; 2] {
    [(seed >> 32) as u32, seed as u32]
}

/// The words of one draw by the definition, one at a time.
fn words_by_definition(key: [u32; 2], bytes: usize) -> Vec<u32> {
    let count = bytes.div_ceil(4);
    let (half, upper) = (count / 2, count.div_ceil(2));
    let mut words = vec![0; count];
    for i in 0..half {
        [words[i], words[i + upper]] = threefry2x32(key, [i as u32, (i + upper) as u32]);
    }
    if half < upper {
        words[half] = threefry2x32(key, [half as u32, 0])[0];
    }
    words
}

fn draw(key: [u32; 2], width: usize, count: usize) -> Vec<u8> {
    draw_all(&key, &Layout::contiguous(Shape::from([2])), width, &[count])
}

fn draw_all(keys: &[u32], layout: &Layout, width: usize, shape: &[usize]) -> Vec<u8> {
    let full: Shape = layout.shape[..layout.ndim() - 1].iter().chain(shape).copied().collect();
    let out_layout = Layout::contiguous(full);
    // One extra element as a sentinel, and a start with only the alignment that the width requires.
    let mut out = vec![0xA5A5_A5A5u32; (out_layout.size() * width).div_ceil(4) + 2];
    let dtype = match width {
        1 => DType::UInt8,
        2 => DType::UInt16,
        _ => DType::UInt32,
    };
    let base = out.as_mut_ptr().cast::<u8>().wrapping_add(width);
    // SAFETY: the vector holds the layout from its second element on.
    random_bits(View::of(keys, layout), width, unsafe { ViewMut::new(base, dtype, &out_layout) });
    // SAFETY: the bytes are inside the vector and initialised.
    let bytes = unsafe { std::slice::from_raw_parts(base, out_layout.size() * width) }.to_vec();
    // SAFETY: the sentinel is inside the vector.
    assert_eq!(unsafe { *base.add(out_layout.size() * width) }, 0xA5, "wrote beyond the end");
    bytes
}

#[test]
fn published_vectors() {
    assert_eq!(threefry2x32([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
    assert_eq!(threefry2x32([!0, !0], [!0, !0]), [0x1cb9_96fc, 0xbb00_2be7]);
    assert_eq!(
        threefry2x32([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]),
        [0xc492_3a9c, 0x483d_f7a0]
    );
}

#[test]
fn splits_match_mlx() {
    let expected: [(u64, &[u32]); 4] = [
        (0, &[0x375f_238f, 0xcddb_151d]),
        (7, &[0x3998_97a9, 0x3af7_5d5d, 0x741f_be03, 0x3f18_26cb]),
        (1099511627779, &[0x33e3_b9f6, 0xc55e_ec85, 0x8930_3f1a, 0x44e6_205e, 0x5346_c471, 0x12d5_a533]),
        (
            42,
            &[
                0xa4d9_1a96,
                0x5290_657f,
                0x3188_ce22,
                0xe2f1_3aff,
                0xd792_e765,
                0x3122_544e,
                0x585a_803a,
                0x409c_2e81,
                0xa1c4_4acd,
                0xa79e_dc49,
            ],
        ),
    ];
    for (seed, words) in expected {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(draw(key(seed), 4, words.len()), bytes, "seed {seed}");
    }
}

#[test]
fn uniform_samples_match_mlx() {
    let expected: [(u64, &[u32]); 3] = [
        (0, &[0x3ed6_4003]),
        (9, &[0x3f1f_8926, 0x3ea5_1e31, 0x3f74_f24c]),
        (1, &[0x3e4f_4b33, 0x3f76_5afb, 0x3d79_63e7, 0x3f7c_19a7, 0x3f56_6b5f, 0x3d72_27e8, 0x3cbb_a8ce]),
    ];
    for (seed, samples) in expected {
        let bytes = draw(key(seed), 4, samples.len());
        for (word, &sample) in bytes.chunks_exact(4).zip(samples) {
            let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
            assert_eq!((word as f32 / u32::MAX as f32).to_bits(), sample, "seed {seed}");
        }
    }
}

#[test]
fn many_words_are_drawn_in_parallel() {
    for count in [1 << 20, (1 << 20) + 1, 1_234_567] {
        let expected = words_by_definition(key(99), count * 4);
        let actual = draw(key(99), 4, count);
        assert!(actual.chunks_exact(4).zip(expected).all(|(actual, word)| actual == word.to_ne_bytes()));
    }
}

#[test]
fn empty_draws() {
    assert!(draw(key(1), 4, 0).is_empty());
    assert!(draw_all(&[], &Layout::contiguous(Shape::from([0, 2])), 4, &[3]).is_empty());
}

proptest! {
    #[test]
    fn every_width_truncates_the_same_words(seed: u64, count in 1usize..5000, width in prop::sample::select(vec![1, 2, 4])) {
        let expected: Vec<u8> =
            words_by_definition(key(seed), count * width).iter().flat_map(|word| word.to_ne_bytes()).collect();
        prop_assert_eq!(draw(key(seed), width, count), &expected[..count * width]);
    }

    #[test]
    fn keys_draw_independently(
        rows in 1usize..4, columns in 1usize..4, count in 0usize..9,
        width in prop::sample::select(vec![1, 2, 4]), transposed: bool, seed: u32,
    ) {
        let keys: Vec<u32> = (0..(rows * columns * 2) as u32).map(|i| i.wrapping_mul(seed)).collect();
        let dense = Layout::contiguous(Shape::from([rows, columns, 2]));
        let layout = if transposed { dense.permute(&[1, 0, 2]) } else { dense };
        let actual = draw_all(&keys, &layout, width, &[count]);
        let mut expected = Vec::new();
        for i in 0..layout.shape[0] {
            for j in 0..layout.shape[1] {
                let at = (i as isize * layout.strides[0] + j as isize * layout.strides[1]) as usize;
                expected.extend(draw([keys[at], keys[at + 1]], width, count));
            }
        }
        prop_assert_eq!(actual, expected);
    }
}
