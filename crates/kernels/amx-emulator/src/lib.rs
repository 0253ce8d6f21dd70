//! A software emulator of Intel's AMX (tile matrix multiplication), for tests of AMX kernels on processors without it.
//!
//! A processor without AMX traps at such an instruction, and the system sends SIGILL. The handler here decodes the instruction,
//! performs its operation on the thread's emulated tiles as Intel's manual defines it (Software Developer's Manual, volume 2,
//! with the exception classes AMX-E1 to E6), and resumes after it. Where the manual defines a fault, the handler restores the
//! previous one and the instruction faults for good. So does a configuration with a nonzero start row, which only the system
//! uses, to restart an interrupted load.
//!
//! Invariants:
//! - The handler runs while its thread is stopped at an instruction: nothing else on the thread accesses its tiles, the
//!   instruction's bytes are readable, and the author of the instruction guarantees its memory operands.
//! - The handler does not allocate, takes no lock and never unwinds.
//! - Bytes of a tile outside its shape are zero.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::cell::{Cell, RefCell};
use std::ptr::{null, null_mut, with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::atomic::{Ordering, compiler_fence};
use std::sync::{Once, OnceLock};

use umber_kernels_base::amx::{AMX_TILE as AMX_TILE_FEATURE, TileType, is_permitted};

#[cfg(test)]
mod tests;

/// The previous action of SIGILL; set exactly if instructions are emulated.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

thread_local! {
    /// This thread's tiles. Const-initialised and never dropped, so that the handler accesses them without allocating.
    static AMX_TILE: RefCell<TileState> = const { RefCell::new(TileState::NONE) };
    /// Instructions emulated on this thread.
    static EMULATED: Cell<u64> = const { Cell::new(0) };
}

/// Make AMX available to all threads: natively if the processor supports it, else emulated.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if is_native() {
            return;
        }
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
        // SAFETY: `sigaction` is plain data, for which zeros are valid.
        let (mut previous, mut action) = unsafe { std::mem::zeroed::<(libc::sigaction, libc::sigaction)>() };
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: only queries the action, and writes it to `previous`.
        let mut status = unsafe { libc::sigaction(libc::SIGILL, null(), &raw mut previous) };
        // Set before the handler is installed, which needs it.
        PREVIOUS.get_or_init(|| previous);
        // SAFETY: the handler is async-signal-safe, see the module's invariants.
        status |= unsafe { libc::sigaction(libc::SIGILL, &raw const action, null_mut()) };
        assert_eq!(status, 0, "sigaction accepts a handler of SIGILL");
    });
}

/// True if [`install`] has installed the emulator on this processor.
pub fn is_emulating() -> bool {
    PREVIOUS.get().is_some()
}

/// The number of instructions emulated on this thread so far.
pub fn emulated() -> u64 {
    // The signal handler changes the counter without the compiler's knowledge.
    compiler_fence(Ordering::SeqCst);
    EMULATED.get()
}

/// True if the processor has AMX-TILE, AMX-BF16 and AMX-INT8, and this process may use them.
fn is_native() -> bool {
    const FEATURES: u32 = AMX_TILE_FEATURE | TileType::Bf16 as u32 | TileType::Int8 as u32;
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & FEATURES == FEATURES && is_permitted()
}

/// The SIGILL handler: emulate the instruction at which this thread stopped, or let it fault.
extern "C" fn handle(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes the thread's saved registers, which the handler may change.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let instruction = Instruction::decode(registers);
    if let Some(end) = instruction.and_then(|it| AMX_TILE.with_borrow_mut(|tiles| tiles.execute(&it))) {
        registers[libc::REG_RIP as usize] = end as libc::greg_t;
        EMULATED.set(EMULATED.get() + 1);
    } else if let Some(previous) = PREVIOUS.get() {
        // SAFETY: restores the previous action; the instruction runs again and traps to it.
        unsafe { libc::sigaction(libc::SIGILL, previous, null_mut()) };
    }
}

/// Mandatory prefixes, in the encoding of VEX.pp.
const NO_PREFIX: u8 = 0;
const PREFIX_66: u8 = 1;
const PREFIX_F3: u8 = 2;
const PREFIX_F2: u8 = 3;

/// An instruction in the encoding that all AMX instructions share.
struct Instruction {
    opcode: u8,
    prefix: u8,
    /// The tile in ModRM.reg.
    tile: usize,
    operand: Operand,
    /// The register in VEX.vvvv; 0 if unused.
    other: usize,
    /// Address of the next instruction.
    end: usize,
}

/// The operand in ModRM.rm.
#[derive(Clone, Copy)]
enum Operand {
    /// A tile number.
    Tile(usize),
    /// The address of base and displacement, and the scaled index, if there is a SIB byte.
    Memory(usize, Option<usize>),
}

/// The address of the instruction's next byte.
struct Code(usize);

impl Code {
    /// The next `N` bytes.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = with_exposed_provenance::<[u8; N]>(self.0);
        self.0 += N;
        // SAFETY: the processor has fetched these bytes: decoding takes no byte that the previous ones do not imply.
        unsafe { bytes.read() }
    }
}

impl Instruction {
    /// Decode the instruction at which a thread with these registers stopped, if it has the shared encoding.
    fn decode(registers: &[libc::greg_t; 23]) -> Option<Instruction> {
        /// VEX.X and VEX.B, inverted: the fourth bits of the index and base register numbers.
        const X: u8 = 1 << 6;
        const B: u8 = 1 << 5;
        /// First VEX byte: X and B set, R set (a clear R would encode tiles 8 to 15), and the opcode map 0F38.
        const FIRST: u8 = 0b1110_0010;
        /// VEX.W and VEX.L.
        const WIDE: u8 = 1 << 7 | 1 << 2;
        let mut code = Code(registers[libc::REG_RIP as usize] as usize);
        let [0xC4] = code.take() else { return None };
        let [first, second, opcode] = code.take();
        if first | X | B != FIRST || second & WIDE != 0 || !matches!(opcode, 0x49 | 0x4B | 0x5C | 0x5E) {
            return None;
        }
        let [modrm] = code.take();
        let [index, base] = [X, B].map(|bit| if first & bit == 0 { 8 } else { 0 });
        let operand = match (modrm >> 6, modrm & 7) {
            (3, tile) if base == 0 => Operand::Tile(usize::from(tile)),
            (3, _) => return None,
            (mode, low) => Operand::memory(&mut code, registers, mode, low, [index, base]),
        };
        let (tile, other) = (usize::from(modrm >> 3 & 7), usize::from(!second >> 3 & 15));
        Some(Instruction { opcode, prefix: second & 3, tile, operand, other, end: code.0 })
    }
}

impl Operand {
    /// Decode the memory operand for a ModRM of this mode and `rm`; `high` has the fourth bits of index and base.
    fn memory(code: &mut Code, registers: &[libc::greg_t; 23], mode: u8, rm: u8, high: [u8; 2]) -> Operand {
        use libc::{REG_R8, REG_RAX, REG_RBP, REG_RBX, REG_RCX, REG_RDI, REG_RDX, REG_RSI, REG_RSP};
        const FIRST: [i32; 8] = [REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI];
        let register = |number: u8| {
            // `ucontext` stores R8 to R15 consecutively.
            let slot = FIRST.get(usize::from(number)).copied().unwrap_or(REG_R8 + i32::from(number) - 8);
            registers[slot as usize] as usize
        };
        let (mut base, mut index) = (rm, None);
        if rm == 4 {
            let [sib] = code.take();
            base = sib & 7;
            // RSP cannot be an index: its number encodes that there is none.
            let number = sib >> 3 & 7 | high[0];
            index = Some(if number == 4 { 0 } else { register(number) << (sib >> 6) });
        }
        let displacement = match (mode, base) {
            (1, _) => i8::from_le_bytes(code.take()) as usize,
            (2, _) | (_, 5) => i32::from_le_bytes(code.take()) as usize,
            _ => 0,
        };
        let start = match (mode, base, index) {
            (0, 5, Some(_)) => 0,
            (0, 5, None) => code.0,
            _ => register(base | high[1]),
        };
        Operand::Memory(start.wrapping_add(displacement), index)
    }
}

/// Four bytes of a tile.
type Word = [u8; 4];

/// Rows of a tile.
type Tile = [[Word; 16]; 16];

/// The configured size of a tile: zero if it is not configured.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    bytes: usize,
}

/// The tiles of a thread.
struct TileState {
    shapes: [Shape; 8],
    tiles: [Tile; 8],
}

impl TileState {
    /// A zero tile.
    const ZERO: Tile = [[[0; 4]; 16]; 16];
    /// No tile is configured.
    const NONE: TileState =
        TileState { shapes: [Shape { rows: 0, bytes: 0 }; 8], tiles: [TileState::ZERO; 8] };

    /// Execute the instruction and return the address of the next one; `None` if it is unknown or faults.
    fn execute(&mut self, instruction: &Instruction) -> Option<usize> {
        let Instruction { opcode, prefix, tile, operand, other, end } = *instruction;
        match (opcode, prefix, operand) {
            (0x49, NO_PREFIX, Operand::Memory(start, index)) if tile == 0 && other == 0 => {
                let source = with_exposed_provenance::<[u8; 64]>(start.wrapping_add(index.unwrap_or(0)));
                // SAFETY: the instruction reads the same 64 bytes, see the module's invariants.
                *self = TileState::configured(&unsafe { source.read() })?;
            }
            (0x49, NO_PREFIX, Operand::Tile(0)) if tile == 0 && other == 0 => *self = TileState::NONE,
            (0x49, PREFIX_F2, Operand::Tile(0)) if other == 0 => {
                self.shape(tile)?;
                self.tiles[tile] = TileState::ZERO;
            }
            (0x4B, PREFIX_F2 | PREFIX_66, Operand::Memory(start, Some(stride))) if other == 0 => {
                // Undocumented: Sapphire Rapids faults unless a row has whole 32-bit words.
                let shape = self.shape(tile).filter(|shape| shape.bytes % 4 == 0)?;
                for (row, words) in self.tiles[tile][..shape.rows].iter_mut().enumerate() {
                    let source = with_exposed_provenance(start.wrapping_add(row.wrapping_mul(stride)));
                    // SAFETY: the instruction reads the same bytes, at most a full row of the tile.
                    unsafe { words.as_flattened_mut().as_mut_ptr().copy_from(source, shape.bytes) };
                }
            }
            (0x4B, PREFIX_F3, Operand::Memory(start, Some(stride))) if other == 0 => {
                let shape = self.shape(tile)?;
                for (row, words) in self.tiles[tile][..shape.rows].iter().enumerate() {
                    let target = with_exposed_provenance_mut(start.wrapping_add(row.wrapping_mul(stride)));
                    // SAFETY: the instruction writes the same bytes, at most a full row of the tile.
                    unsafe { words.as_flattened().as_ptr().copy_to(target, shape.bytes) };
                }
            }
            (0x5C, PREFIX_F3, Operand::Tile(left)) => self.multiply(tile, left, other, add_bfloat16s)?,
            (0x5E, signs, Operand::Tile(left)) => {
                self.multiply(tile, left, other, |sum, factors| add_bytes(signs, sum, factors))?;
            }
            _ => return None,
        }
        Some(end)
    }

    /// Zero tiles in the shapes of a configuration, if it is valid.
    fn configured(bytes: &[u8; 64]) -> Option<TileState> {
        let mut tiles = TileState::NONE;
        let mut reserved = [1..16, 32..48, 56..64].into_iter().flat_map(|range| &bytes[range]);
        match bytes[0] {
            0 => return Some(tiles),
            1 if reserved.all(|&byte| byte == 0) => {}
            _ => return None,
        }
        for (tile, shape) in tiles.shapes.iter_mut().enumerate() {
            shape.rows = usize::from(bytes[48 + tile]);
            shape.bytes = usize::from(u16::from_le_bytes([bytes[16 + 2 * tile], bytes[17 + 2 * tile]]));
            if shape.rows > 16 || shape.bytes > 64 || (shape.rows == 0) != (shape.bytes == 0) {
                return None;
            }
        }
        Some(tiles)
    }

    /// The shape of a tile, if the tile exists and is configured.
    fn shape(&self, tile: usize) -> Option<Shape> {
        self.shapes.get(tile).copied().filter(|shape| shape.rows > 0)
    }

    /// Replace each sum by `add(sum, pairs)`, with the pairs of words of its row and column.
    fn multiply<F>(&mut self, sum: usize, left: usize, right: usize, add: F) -> Option<()>
    where
        F: Fn(Word, &[(Word, Word)]) -> Word,
    {
        let (sums, rows, columns) = (self.shape(sum)?, self.shape(left)?, self.shape(right)?);
        let is_distinct = sum != left && sum != right && left != right;
        let has_matching_shapes = sums.rows == rows.rows && sums.bytes == columns.bytes;
        if !is_distinct || !has_matching_shapes || rows.bytes != 4 * columns.rows || sums.bytes % 4 != 0 {
            return None;
        }
        let (left, right) = (self.tiles[left], self.tiles[right]);
        for (words, row) in self.tiles[sum][..sums.rows].iter_mut().zip(left) {
            for (column, word) in words[..sums.bytes / 4].iter_mut().enumerate() {
                let factors: [_; 16] = std::array::from_fn(|depth| (row[depth], right[depth][column]));
                *word = add(*word, &factors[..columns.rows]);
            }
        }
        Some(())
    }
}

/// Dot product of bytes, signed on the left for prefixes F2 and F3, on the right for F2 and 66.
fn add_bytes(prefix: u8, sum: Word, factors: &[(Word, Word)]) -> Word {
    let value = |sign: u8, byte: u8| if prefix & sign == 0 { byte as i32 } else { byte as i8 as i32 };
    let pairs = factors.iter().flat_map(|(left, right)| left.iter().zip(right));
    let products = pairs.map(|(&x, &y)| value(PREFIX_F3, x) * value(PREFIX_66, y));
    products.fold(i32::from_le_bytes(sum), i32::wrapping_add).to_le_bytes()
}

/// Dot product of bfloat16 pairs: even and odd elements accumulate in two separate sums, with one rounding per FMA.
fn add_bfloat16s(sum: Word, factors: &[(Word, Word)]) -> Word {
    // Subnormal operands and results are flushed to zero, whatever MXCSR says.
    let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let bfloat16s =
        |[a, b, c, d]: Word| [[0, 0, a, b], [0, 0, c, d]].map(|bits| flushed(f32::from_le_bytes(bits)));
    let mut sums = [0f32; 2];
    for (left, right) in factors.iter().map(|&(left, right)| (bfloat16s(left), bfloat16s(right))) {
        sums = std::array::from_fn(|i| flushed(left[i].mul_add(right[i], sums[i])));
    }
    flushed(flushed(f32::from_le_bytes(sum)) + flushed(sums[0] + sums[1])).to_le_bytes()
}
