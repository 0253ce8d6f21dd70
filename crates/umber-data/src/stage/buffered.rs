//! Groups of samples as buffers, changed by a function of the user.

use crate::buffer::Buffer;
use crate::error::Result;
use crate::run::Context;
use crate::sample::Sample;
use crate::stage::expand::{Expander, Tickets};

/// A function of a buffer, such as one that sorts it.
pub type Refill = Box<dyn Fn(Buffer, &Context<'_>) -> Result<Buffer> + Send>;

/// Gathers `size` samples into a buffer, applies a function to it, and reads the result.
pub struct Buffered {
    size: usize,
    refill: Option<Refill>,
}

impl Buffered {
    /// With a size of at least one.
    pub fn new(size: usize, refill: Option<Refill>) -> Buffered {
        Buffered { size: size.max(1), refill }
    }
}

impl Expander for Buffered {
    fn name(&self) -> &'static str {
        "buffered"
    }

    fn arguments(&self) -> String {
        format!("{}, {}", self.size, if self.refill.is_some() { "a function" } else { "" })
    }

    fn group(&self) -> usize {
        self.size
    }

    fn expand(&mut self, group: Vec<Sample>, epoch: u64, context: &Context<'_>) -> Result<Tickets> {
        let mut buffer = Buffer::from_samples(group);
        if let Some(refill) = &self.refill {
            buffer = refill(buffer, context)?;
        }
        Ok(Box::new((0..buffer.len()).map(move |index| buffer.ticket(index, epoch))))
    }

    fn length(&self, samples: u64) -> Option<u64> {
        self.refill.is_none().then_some(samples)
    }

    fn may_drop(&self) -> bool {
        self.refill.is_some()
    }
}
