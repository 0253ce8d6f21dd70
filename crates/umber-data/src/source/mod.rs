//! Where samples come from.

mod archive;
mod columns;
mod content;
mod records;
mod table;
mod tar;
mod vector;
mod webdataset;

pub use archive::Archive;
pub use columns::Columns;
pub use content::{Content, Fetch, FileName, Object, Opened, ReadSeek};
pub(crate) use records::RecordReader;
pub use records::{RecordFormat, Records};
pub use table::{Table, TableColumn};
pub use tar::TarNames;
pub use vector::Vector;
pub use webdataset::WebDataset;
