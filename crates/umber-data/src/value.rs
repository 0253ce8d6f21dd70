//! A value of a sample: evaluated elements in memory that other values may share.

use std::borrow::Cow;
use std::fmt;

use umber_core::graph::{ArrayInternals, Storage};
use umber_core::{Array, DType, Shape};
use umber_kernels::{View, ViewMut, tape};
use umber_types::{Element, Layout};

use crate::error::Result;
use crate::fault;

/// Elements of one dtype under a layout.
///
/// Cloning shares the memory. To write, ask for [`Value::make_mut`], which copies where anybody else could see the write: another
/// value, an array, a NumPy view.
#[derive(Clone)]
pub struct Value {
    storage: Storage,
    dtype: DType,
}

impl Value {
    /// A value over memory of the host.
    ///
    /// # Errors
    /// If the layout exceeds the memory, or it is memory of another device.
    pub fn new(storage: Storage, dtype: DType) -> Result<Value> {
        if !storage.buffer().is_on_host() {
            return Err(fault!(Value, "a sample's values are in memory of the host"));
        }
        if !storage.fits(dtype) {
            return Err(fault!(Value, "a layout of shape {} exceeds its buffer", storage.layout().shape));
        }
        Ok(Value { storage, dtype })
    }

    /// The value of an array, which is evaluated. The memory is shared.
    pub fn from_array(array: &Array) -> Result<Value> {
        array.eval()?;
        match array.storage() {
            Some(storage) if storage.buffer().is_on_host() => Value::new(storage.clone(), array.dtype()),
            _ => {
                let copy = array.copied()?;
                copy.eval()?;
                let storage = copy.storage().ok_or_else(|| fault!(Runtime, "an array without memory"))?;
                Value::new(storage.clone(), copy.dtype())
            }
        }
    }

    /// An array over the same memory.
    pub fn to_array(&self) -> Result<Array> {
        Ok(Array::from_storage(self.storage.clone(), self.dtype)?)
    }

    /// [`Value::to_array`], which does not share the memory with this value.
    pub fn into_array(self) -> Result<Array> {
        Ok(Array::from_storage(self.storage, self.dtype)?)
    }

    /// A new contiguous value whose content is to be written.
    pub fn allocate(shape: &Shape, dtype: DType) -> Result<Value> {
        if !shape.is_addressable() {
            return Err(fault!(Memory, "a value of shape {shape} has no memory"));
        }
        Ok(Value { storage: Storage::allocate(shape, dtype)?, dtype })
    }

    /// A copy of elements in row-major order.
    pub fn from_slice<T: Element>(elements: &[T], shape: impl Into<Shape>) -> Result<Value> {
        Value::from_array(&Array::from_slice(elements, shape)?)
    }

    /// A copy of bytes, as `uint8`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Value> {
        Value::from_slice(bytes, bytes.len())
    }

    /// A value without axes.
    pub fn scalar<T: Element>(element: T) -> Result<Value> {
        Value::from_slice(&[element], Shape::scalar())
    }

    /// The memory and layout.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Kind of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Length of each axis.
    pub fn shape(&self) -> &Shape {
        &self.storage.layout().shape
    }

    /// Where the elements are in the memory.
    pub fn layout(&self) -> &Layout {
        self.storage.layout()
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.layout().ndim()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.layout().size()
    }

    /// The same memory under another layout, with the same number of bytes an element.
    ///
    /// # Errors
    /// If the layout exceeds the memory.
    pub fn with_layout(&self, layout: Layout) -> Result<Value> {
        Value::new(self.storage.with_layout(layout), self.dtype)
    }

    /// The elements for reading.
    pub fn view(&self) -> View<'_> {
        match self.storage.host() {
            Some(host) => host.view(self.dtype),
            None => unreachable!("`new` refuses memory of other devices"),
        }
    }

    /// Whether nobody else can see the memory.
    pub fn is_alone(&self) -> bool {
        self.storage.buffer().is_recyclable() && std::sync::Arc::strong_count(self.storage.buffer()) == 1
    }

    /// The elements for writing; copied first, unless the memory is this value's alone.
    pub fn make_mut(&mut self) -> Result<ViewMut<'_>> {
        if !self.is_alone() || self.layout().is_overlapping() {
            *self = self.copied()?;
        }
        self.storage
            .view_mut(self.dtype)
            .ok_or_else(|| fault!(Runtime, "another thread holds the memory of a value"))
    }

    /// A contiguous copy.
    pub fn copied(&self) -> Result<Value> {
        let mut copy = Value::allocate(self.shape(), self.dtype)?;
        if let Some(out) = copy.storage.view_mut(self.dtype) {
            tape::copy(self.view(), out);
        }
        Ok(copy)
    }

    /// The value with its elements in row-major order without gaps: itself, if they are.
    pub fn into_contiguous(self) -> Result<Value> {
        if self.layout().is_contiguous() { Ok(self) } else { self.copied() }
    }

    /// The elements' bytes in row-major order, if they are contiguous.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        self.storage.host()?.dense_bytes(self.dtype)
    }

    /// The elements' bytes in row-major order; copied, unless they are contiguous.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        match self.as_bytes() {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => {
                let copy = self.copied()?;
                Ok(Cow::Owned(copy.as_bytes().unwrap_or_default().to_vec()))
            }
        }
    }

    /// The contiguous elements, if they are of this type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if T::DTYPE == self.dtype { self.view().as_slice() } else { None }
    }

    /// The bytes of a contiguous value for writing; copied first, unless the memory is this value's alone and contiguous.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        if !self.layout().is_contiguous() {
            *self = self.copied()?;
        }
        let bytes = self.size() * self.dtype.size();
        let view = self.make_mut()?;
        let start = view.start();
        // SAFETY: `make_mut` gives the only access to the memory while the value is borrowed, and the layout is contiguous, so
        // that it covers this many bytes from its start.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, bytes) })
    }

    /// Let `write` write to the elements under `part`, a slice of this value's layout.
    ///
    /// # Errors
    /// If the part is not inside the memory.
    pub(crate) fn with_part_mut(&mut self, part: &Layout, write: impl FnOnce(ViewMut<'_>)) -> Result<()> {
        self.make_mut()?;
        if part.is_overlapping() || !self.storage.with_layout(part.clone()).fits(self.dtype) {
            return Err(fault!(Value, "a part of shape {} is not inside of {self:?}", part.shape));
        }
        let Some(start) = self.storage.buffer().host_start() else {
            return Err(fault!(Value, "a sample's values are in memory of the host"));
        };
        // SAFETY: `make_mut` made the memory this value's alone, which is borrowed for the call; the layout is inside of it and
        // reaches no element twice.
        write(unsafe { ViewMut::new(start.as_ptr(), self.dtype, part) });
        Ok(())
    }

    /// The elements computed by `compute` from these, as another dtype: in place where the memory is this value's alone and elements
    /// have one size, else in new memory. `compute` reads each element before it writes it.
    pub(crate) fn map_elements(
        mut self,
        dtype: DType,
        compute: impl FnOnce(View<'_>, ViewMut<'_>),
    ) -> Result<Value> {
        let fits = dtype.size() == self.dtype.size() && dtype.alignment() == self.dtype.alignment();
        if !fits || !self.is_alone() || self.layout().is_overlapping() {
            let mut out = Value::allocate(self.shape(), dtype)?;
            compute(self.view(), out.make_mut()?);
            return Ok(out);
        }
        let start = self.make_mut()?.start();
        let layout = Layout { offset: 0, ..self.layout().clone() };
        // SAFETY: `make_mut` found the memory to be this value's alone, and it is borrowed for the call. Both views are of the same
        // elements, which have one size and alignment and are valid with any bits; each is read before it is written.
        let (from, to) =
            unsafe { (View::new(start, self.dtype, &layout), ViewMut::new(start, dtype, &layout)) };
        compute(from, to);
        self.dtype = dtype;
        Ok(self)
    }

    /// Whether it holds text: `int8` or `uint8` with one axis.
    pub fn is_text(&self) -> bool {
        self.ndim() <= 1 && matches!(self.dtype, DType::Int8 | DType::UInt8)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({} of shape {})", self.dtype, self.shape())
    }
}

impl PartialEq for Value {
    /// Whether dtype, shape and the bytes of all elements are equal.
    fn eq(&self, other: &Value) -> bool {
        self.dtype == other.dtype
            && self.shape() == other.shape()
            && matches!((self.bytes(), other.bytes()), (Ok(a), Ok(b)) if a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_reaches_nobody_else() {
        let first = Value::from_slice(&[1i32, 2, 3], 3).expect("memory");
        let mut second = first.clone();
        assert!(!second.is_alone());
        second.bytes_mut().expect("memory")[0] = 9;
        assert_eq!(first.as_slice::<i32>(), Some(&[1, 2, 3][..]));
        assert_eq!(second.as_slice::<i32>(), Some(&[9, 2, 3][..]));
        let address = second.view().start();
        second.bytes_mut().expect("memory")[0] = 7;
        assert_eq!(second.view().start(), address, "memory of one's own is written in place");
    }
}
