//! Arrays as data of serde: dtype, shape, and the elements as bytes in row-major order, little endian.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use umber_types::{DType, Shape, ensure};

use crate::graph::Array;
use crate::ops;

const _: () = assert!(cfg!(target_endian = "little"), "bytes of other processors would have to be swapped");

/// Bytes that a format may store as such, or as a sequence of numbers.
struct Bytes<'a>(Cow<'a, [u8]>);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl<'de> Visitor<'de> for BytesVisitor {
            type Value = Bytes<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Bytes<'de>, E> {
                Ok(Bytes(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes<'de>, E> {
                Ok(Bytes(Cow::Owned(bytes.to_vec())))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes<'de>, E> {
                Ok(Bytes(Cow::Owned(bytes)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Bytes<'de>, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = sequence.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(Cow::Owned(bytes)))
            }
        }

        deserializer.deserialize_bytes(BytesVisitor)
    }
}

/// What is stored.
#[derive(Deserialize)]
#[serde(rename = "Array")]
struct Stored<'a> {
    dtype: Cow<'a, str>,
    shape: Shape,
    #[serde(borrow)]
    data: Bytes<'a>,
}

/// Evaluates the array.
impl Serialize for Array {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dense = self.to_dense().map_err(S::Error::custom)?;
        let storage = dense.storage().expect("dense arrays are evaluated").on_host();
        let bytes = storage.dense_bytes(self.dtype()).expect("the array is dense");
        let mut fields = serializer.serialize_struct("Array", 3)?;
        fields.serialize_field("dtype", self.dtype().name())?;
        fields.serialize_field("shape", self.shape())?;
        fields.serialize_field("data", &Bytes(Cow::Borrowed(bytes)))?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Array {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Array, D::Error> {
        restore(&Stored::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn restore(stored: &Stored<'_>) -> umber_types::Result<Array> {
    let dtype: DType = stored.dtype.parse()?;
    let (shape, bytes) = (&stored.shape, &*stored.data.0);
    ensure!(
        bytes.len() == shape.size().saturating_mul(dtype.size()),
        Value("array"),
        "{} bytes are not an array of shape {shape} and dtype {dtype}",
        bytes.len()
    );
    if bytes.is_empty() {
        return Ok(Array::full(shape, 0, dtype));
    }
    let array = ops::reshape(&ops::view(&Array::from(bytes), dtype)?, shape)?;
    array.eval()?;
    Ok(array)
}
