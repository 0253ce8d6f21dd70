//! The state of a stream: positions of its sources and what is needed to repeat what came after them.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fault;

/// A position, or several. As JSON: numbers, texts, lists, null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum State {
    /// Nothing to remember.
    #[default]
    Empty,
    /// A number.
    Number(u64),
    /// A text, such as what a user's source says of itself.
    Text(String),
    /// Several states.
    List(Vec<State>),
}

impl State {
    /// The number.
    ///
    /// # Errors
    /// If it is none.
    pub fn number(&self) -> Result<u64> {
        match self {
            State::Number(number) => Ok(*number),
            _ => Err(damaged()),
        }
    }

    /// The list, which has `N` entries.
    ///
    /// # Errors
    /// If it is none, or of another length.
    pub fn list<const N: usize>(&self) -> Result<&[State; N]> {
        self.entries()?.try_into().map_err(|_| damaged())
    }

    /// The list.
    ///
    /// # Errors
    /// If it is none.
    pub fn entries(&self) -> Result<&[State]> {
        match self {
            State::List(list) => Ok(list),
            _ => Err(damaged()),
        }
    }
}

fn damaged() -> crate::DataError {
    fault!(Value, "the state is damaged, or another version wrote it").at_stage("load_state_dict")
}

impl From<u64> for State {
    fn from(number: u64) -> State {
        State::Number(number)
    }
}

impl<const N: usize> From<[State; N]> for State {
    fn from(list: [State; N]) -> State {
        State::List(list.into())
    }
}
