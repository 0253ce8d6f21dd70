//! A libturbojpeg of the user's system, opened at run time. It decodes faster than what is built in, and reduces while it decodes.
//!
//! The environment variable `UMBER_TURBOJPEG` names a library, or is `0` for none.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_ulong, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::Image;
use super::error::{Result, damaged, truncated};

const VARIABLE: &str = "UMBER_TURBOJPEG";
const NAMES: [&str; 2] = ["libturbojpeg.so.0", "libturbojpeg.0.dylib"];

// Constants of turbojpeg.h, equal in all its versions since 1.4.
const PIXELS_RGB: c_int = 0;
const PIXELS_GREY: c_int = 6;
const LIMIT_SCANS: c_int = 32768;
const WARNING: c_int = 0;

type Handle = NonNull<c_void>;
type Init = unsafe extern "C" fn() -> Option<Handle>;
/// Handle, source, its length, target; width, bytes of a row, height, format and flags.
type Decompress = unsafe extern "C" fn(
    Handle,
    *const c_uchar,
    c_ulong,
    *mut c_uchar,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
) -> c_int;
type OfHandle<T> = unsafe extern "C" fn(Handle) -> T;

/// The functions of the library, present since version 2.0.
pub(super) struct Turbojpeg {
    init: Init,
    decompress: Decompress,
    destroy: OfHandle<c_int>,
    error_text: OfHandle<*const c_char>,
    error_code: OfHandle<c_int>,
}

/// A thread's decompressor, which keeps its memory from image to image.
struct Decompressor(&'static Turbojpeg, Handle);

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the handle came from `init` and is dropped once; the library is never closed.
        unsafe { (self.0.destroy)(self.1) };
    }
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor>> = const { RefCell::new(None) };
}

impl Turbojpeg {
    /// The library that the system has, or that the environment names.
    pub(super) fn of_system() -> Option<&'static Self> {
        static LIBRARY: OnceLock<Option<Turbojpeg>> = OnceLock::new();
        LIBRARY
            .get_or_init(|| match std::env::var(VARIABLE).as_deref() {
                Ok("" | "0") => None,
                Ok(name) => Self::open(name),
                Err(_) => NAMES.iter().find_map(|name| Self::open(name)),
            })
            .as_ref()
    }

    fn open(name: &str) -> Option<Self> {
        let name = CString::new(name).ok()?;
        // SAFETY: `name` ends with a zero. The library's initialisers run, as for every library that a program is linked with.
        let library =
            NonNull::new(unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) })?;
        // SAFETY: `library` is open, and stays open for the life of the program.
        let symbol = |name: &CStr| NonNull::new(unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) });
        // SAFETY: the types are those of turbojpeg.h, whose functions of these names never changed.
        unsafe {
            Some(Self {
                init: transmute::<Handle, Init>(symbol(c"tjInitDecompress")?),
                decompress: transmute::<Handle, Decompress>(symbol(c"tjDecompress2")?),
                destroy: transmute::<Handle, OfHandle<c_int>>(symbol(c"tjDestroy")?),
                error_text: transmute::<Handle, OfHandle<*const c_char>>(symbol(c"tjGetErrorStr2")?),
                error_code: transmute::<Handle, OfHandle<c_int>>(symbol(c"tjGetErrorCode")?),
            })
        }
    }

    /// The image in a size that its header says, or that size reduced by 2, 4 or 8 and rounded up.
    pub(super) fn decode(
        &'static self,
        bytes: &[u8],
        (width, height): (usize, usize),
        grey: bool,
        strict: bool,
    ) -> Result<Image> {
        DECOMPRESSOR.with_borrow_mut(|kept| {
            if kept.is_none() {
                // SAFETY: a function without preconditions.
                *kept = unsafe { (self.init)() }.map(|handle| Decompressor(self, handle));
            }
            let Some(&Decompressor(_, handle)) = kept.as_ref() else {
                return damaged("libturbojpeg has no memory for a decoder");
            };
            let (channels, format) = if grey { (1, PIXELS_GREY) } else { (3, PIXELS_RGB) };
            let mut pixels = vec![0; width * height * channels];
            // SAFETY: the source has the length given; the target has `height` rows of `width` pixels of `channels` bytes
            // without padding (a pitch of 0); the handle is this thread's.
            let status = unsafe {
                (self.decompress)(
                    handle,
                    bytes.as_ptr(),
                    bytes.len() as c_ulong,
                    pixels.as_mut_ptr(),
                    width as c_int,
                    0,
                    height as c_int,
                    format,
                    LIMIT_SCANS,
                )
            };
            if status != 0 {
                self.check(handle, bytes, strict)?;
            }
            Ok(Image { width, height, channels, pixels })
        })
    }

    /// The error that the last call left, unless it is a warning and damage is accepted.
    ///
    /// An error that follows a warning counts as one, so without `strict` pixels may be missing altogether.
    fn check(&self, handle: Handle, bytes: &[u8], strict: bool) -> Result<()> {
        // SAFETY: the handle is this thread's; the text is the handle's and copied before it is used again.
        let (code, text) = unsafe {
            let text = CStr::from_ptr((self.error_text)(handle));
            ((self.error_code)(handle), text.to_string_lossy().into_owned())
        };
        if code == WARNING && !strict {
            return Ok(());
        }
        if text.contains("Premature end") {
            return truncated(bytes);
        }
        damaged(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DecodeError, jpeg};
    use super::*;

    const COLOR: &[u8] = include_bytes!("../../tests/fixtures/420.jpg");
    const PROGRESSIVE: &[u8] = include_bytes!("../../tests/fixtures/progressive444.jpg");

    #[test]
    fn a_library_that_cannot_be_opened_is_none() {
        assert!(Turbojpeg::open("/no/such/library.so").is_none());
        assert!(Turbojpeg::open("zero\0inside").is_none());
        // A library without the functions.
        assert!(Turbojpeg::open("libc.so.6").is_none());
    }

    /// Where the system has the library.
    #[test]
    fn both_decoders_agree() {
        let Some(library) = Turbojpeg::of_system() else { return };
        for bytes in [COLOR, PROGRESSIVE] {
            let theirs = library.decode(bytes, (23, 17), false, true).unwrap();
            let ours = jpeg::by_zune(bytes, (23, 17), false, true).unwrap();
            let differences = theirs.pixels.iter().zip(&ours.pixels).map(|(a, b)| u32::from(a.abs_diff(*b)));
            assert!(differences.sum::<u32>() < 23 * 17 * 3);
            let mean = |image: &Image| {
                image.pixels.iter().map(|&value| f64::from(value)).sum::<f64>() / image.pixels.len() as f64
            };
            for size in [(12, 9), (6, 5), (3, 3)] {
                let reduced = library.decode(bytes, size, false, true).unwrap();
                // The mean stays, apart from that of blocks beyond the border.
                assert!((mean(&reduced) - mean(&theirs)).abs() < 24.0, "{size:?}");
            }
        }
    }

    #[test]
    fn damage_is_an_error_under_strict() {
        let Some(library) = Turbojpeg::of_system() else { return };
        let half = &COLOR[..COLOR.len() - 60];
        let error = library.decode(half, (23, 17), false, true).unwrap_err();
        assert_eq!(error, DecodeError::Truncated { missing: None, available: half.len() as u64 });
        assert_eq!(library.decode(half, (23, 17), false, false).unwrap().pixels.len(), 23 * 17 * 3);
        assert!(library.decode(b"\xff\xd8 no", (1, 1), false, true).is_err());
        // The decoder of the thread is as good as new.
        library.decode(COLOR, (23, 17), false, true).unwrap();
    }
}
