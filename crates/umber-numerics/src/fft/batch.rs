//! Batches of lines: copied into dense buffers in blocks, and back.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use num_traits::Zero;
use umber_types::{Error, Result, error};

use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};

use super::load_store::{Group, MAX_LANES};

/// Minimum elements per task.
pub(super) const GRAIN: usize = 1 << 13;
/// Maximum lines of a block: elements across them fill a cache line even for the widest type.
const INTERLEAVE: usize = 8;
/// Maximum elements of a block of dense lines.
const BLOCK: usize = 1 << 10;

/// The lines of a source and a destination along an axis.
pub(super) struct LineBatch {
    src: Source<u8>,
    dst: Target<u8>,
    others: StridedLoops<2>,
    lengths: [usize; 2],
    steps: [isize; 2],
    /// Number of lines that are skipped.
    first: usize,
}

/// The buffers of one task, for one block of lines.
pub(super) struct Worker<A, B, S> {
    /// The lines of the source, contiguously.
    pub(super) input: ScratchVec<A>,
    /// The lines of the destination.
    pub(super) output: ScratchVec<B>,
    /// Scratch for the plan.
    pub(super) scratch: ScratchVec<S>,
}

/// Allocate zeros; `None` if there is not enough memory.
fn zeros<T: Zero + Copy>(length: usize) -> Option<ScratchVec<T>> {
    ScratchVec::filled(T::zero(), length).ok()
}

impl LineBatch {
    pub(super) fn new(src: &View, axis: usize, dst: &ViewMut) -> LineBatch {
        let mut loops: Vec<Loop<2>> = (0..src.shape().len())
            .filter(|&other_axis| other_axis != axis)
            .map(|other_axis| Loop {
                length: src.shape()[other_axis],
                strides: [src.strides()[other_axis], dst.strides()[other_axis]],
            })
            .collect();
        // The smallest strides belong to the innermost loop.
        loops.sort_by_key(|l| std::cmp::Reverse(l.strides[0].unsigned_abs()));
        let mut others = StridedLoops::new(&[], [&[], &[]]);
        for l in loops {
            others.push(l);
        }
        LineBatch {
            src: Source::of(src),
            dst: Target::of(dst),
            others,
            lengths: [src.shape()[axis], dst.shape()[axis]],
            steps: [src.strides()[axis], dst.strides()[axis]],
            first: 0,
        }
    }

    /// Number of lines.
    pub(super) fn count(&self) -> usize {
        self.others.count() - self.first
    }

    /// Skip the first `count` lines.
    pub(super) fn skip(&mut self, count: usize) {
        self.first += count;
    }

    /// Pointers to the first real number of both sides.
    pub(super) fn pointers<T>(&self) -> (Source<T>, Target<T>) {
        (self.src.cast(), self.dst.cast())
    }

    /// Strides between the elements of a line, for source and destination.
    pub(super) fn steps(&self) -> [isize; 2] {
        self.steps
    }

    /// The offsets of some lines. `reals` are the real numbers per element of the source and of the destination.
    pub(super) fn group(&self, lines: Range<usize>, reals: [isize; 2]) -> [Group; 2] {
        let (first, count) = (self.first + lines.start, lines.len());
        if self.others.loops().len() <= 1 {
            let strides = self.others.inner().strides;
            let side = |i: usize| {
                let step = strides[i] * reals[i];
                Group::regular(first as isize * step, step, count)
            };
            return [side(0), side(1)];
        }
        let mut starts = [[0; MAX_LANES]; 2];
        let mut line = 0;
        self.others.walk(first..first + count, |offsets| {
            for i in 0..2 {
                starts[i][line] = offsets[i] * reals[i];
            }
            line += 1;
        });
        [Group::irregular(&starts[0][..count]), Group::irregular(&starts[1][..count])]
    }

    /// The error for buffers that do not fit memory.
    pub(super) fn no_memory(&self) -> Error {
        let length = self.lengths[0].max(self.lengths[1]);
        error!(Memory("fft"), "out of memory for transforms of length {length}")
    }

    /// Whether every line is contiguous on both sides.
    pub(super) fn are_dense(&self) -> bool {
        (0..2).all(|i| self.steps[i] == 1 || self.lengths[i] == 1)
    }

    fn grain(&self) -> usize {
        GRAIN.div_ceil(self.lengths[0].max(self.lengths[1]))
    }

    /// Run `work` on ranges of lines, with buffers for each task.
    fn run_with_buffers<R>(
        &self,
        buffers: impl Fn() -> Option<R> + Sync,
        work: impl Fn(&mut R, Range<usize>) + Sync,
    ) -> Result<()> {
        let failed = AtomicBool::new(false);
        parallel_ranges(self.count(), self.grain(), |range| match buffers() {
            Some(mut buffers) => work(&mut buffers, self.first + range.start..self.first + range.end),
            None => failed.store(true, Ordering::Relaxed),
        });
        if failed.into_inner() {
            return Err(self.no_memory());
        }
        Ok(())
    }

    /// Copy dense lines to the destination, and transform each in place.
    pub(super) fn in_place<T: Zero + Copy + Send + Sync>(
        &self,
        scratch: usize,
        transform: impl Fn(&mut [T], &mut [T]) + Sync,
    ) -> Result<()> {
        let (src, dst) = (self.src.cast::<T>(), self.dst.cast::<T>());
        self.run_with_buffers(
            || zeros(scratch),
            |scratch, range| {
                self.others.walk(range, |[from, to]| {
                    // SAFETY: lines are dense and inside the layouts; each is written by one task, and nothing else accesses
                    // the destination.
                    let line = unsafe {
                        std::ptr::copy_nonoverlapping(src.at(from), dst.at(to), self.lengths[0]);
                        std::slice::from_raw_parts_mut(dst.at(to), self.lengths[0])
                    };
                    transform(line, scratch);
                });
            },
        )
    }

    /// Number of lines per buffer.
    fn block(&self) -> usize {
        let block =
            if self.are_dense() { (BLOCK / self.lengths[0]).clamp(1, INTERLEAVE) } else { INTERLEAVE };
        block.min(self.count())
    }

    /// Run `work` on the offsets of every block of lines in a range.
    fn blocks(&self, range: Range<usize>, block: usize, mut work: impl FnMut(&[[isize; 2]])) {
        let mut at = range.start;
        let mut offsets = [[0isize; 2]; INTERLEAVE];
        while at < range.end {
            let count = block.min(range.end - at);
            let mut i = 0;
            self.others.walk(at..at + count, |line_offsets| {
                offsets[i] = line_offsets;
                i += 1;
            });
            work(&offsets[..count]);
            at += count;
        }
    }

    /// Copy blocks of lines into a buffer, transform them there and write them back.
    pub(super) fn in_buffer<T: Zero + Copy + Send + Sync>(
        &self,
        scratch: usize,
        transform: impl Fn(&mut [T], &mut [T]) + Sync,
    ) -> Result<()> {
        let (block, length) = (self.block(), self.lengths[0]);
        let buffers = || Some((zeros::<T>(block.checked_mul(length)?)?, zeros::<T>(scratch)?));
        self.run_with_buffers(buffers, |(lines, scratch), range| {
            self.blocks(range, block, |offsets| {
                self.gather(lines, offsets);
                transform(&mut lines[..offsets.len() * length], scratch);
                self.scatter(lines, offsets);
            });
        })
    }

    /// Copy blocks of lines into buffers, transform them into other buffers and write those back.
    pub(super) fn run<A, B, S>(
        &self,
        scratch: usize,
        transform: impl Fn(&mut Worker<A, B, S>) + Sync,
    ) -> Result<()>
    where
        A: Zero + Copy + Send + Sync,
        B: Zero + Copy + Send + Sync,
        S: Zero + Copy,
    {
        let block = self.block();
        let buffers = || {
            Some(Worker {
                input: zeros(block.checked_mul(self.lengths[0])?)?,
                output: zeros(block.checked_mul(self.lengths[1])?)?,
                scratch: zeros(scratch)?,
            })
        };
        self.run_with_buffers(buffers, |worker, range| {
            self.blocks(range, block, |offsets| {
                self.gather(&mut worker.input, offsets);
                transform(worker);
                self.scatter(&worker.output, offsets);
            });
        })
    }

    /// Copy lines into a buffer, element by element across the lines, which are usually neighbours in memory.
    fn gather<A: Copy>(&self, input: &mut [A], offsets: &[[isize; 2]]) {
        let (src, length) = (self.src.cast::<A>(), self.lengths[0]);
        // SAFETY: lines are inside the layout of the source, and the buffer holds a block of them.
        unsafe {
            if self.steps[0] == 1 {
                for (line, [from, _]) in offsets.iter().enumerate() {
                    std::ptr::copy_nonoverlapping(src.at(*from), input[line * length..].as_mut_ptr(), length);
                }
                return;
            }
            for j in 0..length {
                for (line, [from, _]) in offsets.iter().enumerate() {
                    input[line * length + j] = *src.at(from + j as isize * self.steps[0]);
                }
            }
        }
    }

    fn scatter<B: Copy>(&self, output: &[B], offsets: &[[isize; 2]]) {
        let (dst, length) = (self.dst.cast::<B>(), self.lengths[1]);
        // SAFETY: lines are inside the layout of the destination, each written by one task.
        unsafe {
            if self.steps[1] == 1 {
                for (line, [_, to]) in offsets.iter().enumerate() {
                    std::ptr::copy_nonoverlapping(output[line * length..].as_ptr(), dst.at(*to), length);
                }
                return;
            }
            for j in 0..length {
                for (line, [_, to]) in offsets.iter().enumerate() {
                    *dst.at(to + j as isize * self.steps[1]) = output[line * length + j];
                }
            }
        }
    }
}
