//! A record's file: the database, or the JSON lines that `framegate log --json --all` writes. Neither is changed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use framegate_guard::store::lines::Lines;
use framegate_guard::store::read::{Kept, Row};
use framegate_guard::store::reader::Reader;
use framegate_guard::store::source::{Item, RawRow, Source as _};
use framegate_guard::store::sqlite::Store;
use framegate_guard::store::{StoreError, retrace};

/// How a database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// How a line begins.
const LINE: &[u8] = b"{\"seq\":";

/// A record's file.
#[derive(Debug)]
pub(crate) enum RecordFile {
    Database(Box<Reader>),
    Lines(Index),
}

/// Rows, one after the other.
pub(crate) type Rows<'f> = Box<dyn Iterator<Item = Result<Row, StoreError>> + 'f>;

impl RecordFile {
    /// Opens it; `-` is lines on stdin.
    pub(crate) fn open(path: &Path) -> Result<RecordFile, StoreError> {
        if path == Path::new("-") {
            return Index::spooled(io::stdin().lock()).map(RecordFile::Lines).map_err(|why| os(&why));
        }
        if is_database(path) {
            return Store::open_read(path).map(|reader| RecordFile::Database(Box::new(reader)));
        }
        let file =
            File::open(path).map_err(|why| StoreError::Open(format!("`{}`: {why}", path.display())))?;
        let index = Index::of(file).map_err(|why| os(&why))?;
        if index.places.is_empty() && index.has_more {
            return Err(StoreError::NotAStore("neither a database nor JSON lines of a record".into()));
        }
        Ok(RecordFile::Lines(index))
    }

    /// The records from this number on, in order.
    pub(crate) fn from(&self, first: u64) -> Rows<'_> {
        match self {
            RecordFile::Database(reader) => Box::new(reader.rows(first..)),
            RecordFile::Lines(index) => {
                let start = index.places.partition_point(|place| place.seq < first);
                Box::new((start..index.places.len()).map(|at| index.row_at(at)))
            }
        }
    }

    /// The number of the last record; 0 when there is none.
    pub(crate) fn last(&self) -> Result<u64, StoreError> {
        match self {
            RecordFile::Database(reader) => Ok(reader.head()?.sequence),
            RecordFile::Lines(index) => Ok(index.places.last().map_or(0, |place| place.seq)),
        }
    }

    /// The records up to this number, from the last to the first.
    pub(crate) fn back(&self, last: u64) -> Rows<'_> {
        match self {
            RecordFile::Database(reader) => Box::new(reader.rows_back(..=last)),
            RecordFile::Lines(index) => {
                let end = index.places.partition_point(|place| place.seq <= last);
                Box::new((0..end).rev().map(|at| index.row_at(at)))
            }
        }
    }
}

impl retrace::Source for RecordFile {
    fn row(&self, seq: u64) -> Result<Option<Row>, StoreError> {
        match self {
            RecordFile::Database(reader) => reader.row(seq),
            RecordFile::Lines(index) => index.find(seq).map(|at| index.row_at(at)).transpose(),
        }
    }

    fn contents(&self, seq: u64) -> Result<Vec<Kept>, StoreError> {
        match self {
            RecordFile::Database(reader) => reader.contents(seq),
            RecordFile::Lines(index) => match index.find(seq) {
                Some(at) => Ok(kept(index.raw(at)?)),
                None => Ok(Vec::new()),
            },
        }
    }
}

fn is_database(path: &Path) -> bool {
    let mut start = [0; SQLITE.len()];
    // What cannot be read, or is no file, is told by whoever opens databases.
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    !path.is_file() || read.is_ok() && start == SQLITE
}

fn os(why: &io::Error) -> StoreError {
    StoreError::Os(why.to_string())
}

/// Where each record's line lies. The lines themselves stay in the file.
#[derive(Debug)]
pub(crate) struct Index {
    file: File,
    /// In the order of their numbers.
    places: Vec<Place>,
    /// There was something that is no record.
    has_more: bool,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    seq: u64,
    start: u64,
    length: usize,
}

impl Index {
    fn spooled(mut input: impl Read) -> io::Result<Index> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut input, &mut file)?;
        file.flush()?;
        file.rewind()?;
        Index::of(file)
    }

    fn of(file: File) -> io::Result<Index> {
        let (mut places, mut has_more, mut start) = (Vec::new(), false, 0);
        let mut lines = BufReader::new(file.try_clone()?);
        loop {
            let (length, head) = skip_line(&mut lines)?;
            if length == 0 {
                break;
            }
            match number(&head) {
                Some(seq) => places.push(Place { seq, start, length }),
                None => has_more |= !head.trim_ascii().is_empty(),
            }
            start += u64::try_from(length).unwrap_or(u64::MAX);
        }
        places.sort_by_key(|place| place.seq);
        Ok(Index { file, places, has_more })
    }

    fn find(&self, seq: u64) -> Option<usize> {
        self.places.binary_search_by_key(&seq, |place| place.seq).ok()
    }

    fn raw(&self, at: usize) -> Result<RawRow, StoreError> {
        let Some(place) = self.places.get(at) else { return Err(StoreError::Corrupt("no such line".into())) };
        let mut line = vec![0; place.length];
        self.file.read_exact_at(&mut line, place.start).map_err(|why| os(&why))?;
        match Lines::new(Cursor::new(line)).next()? {
            Some(Item::Record(row)) => Ok(row),
            _ => Err(StoreError::Corrupt(format!("record {} has no line", place.seq))),
        }
    }

    fn row_at(&self, at: usize) -> Result<Row, StoreError> {
        let raw = self.raw(at)?;
        let corrupt = |what: &str| StoreError::Corrupt(format!("record {}: its {what} is not ours", raw.seq));
        Ok(Row {
            seq: u64::try_from(raw.seq).map_err(|_| corrupt("number"))?,
            hash: raw.hash.ok_or_else(|| corrupt("hash"))?,
            body: String::from_utf8(raw.body.clone()).map_err(|_| corrupt("body"))?,
        })
    }
}

/// The contents that are as we write them; what is not is not there.
fn kept(row: RawRow) -> Vec<Kept> {
    let one = |content: framegate_guard::store::source::RawContent| {
        Some(Kept { field: content.field, salt: content.salt?, bytes: content.bytes? })
    };
    row.contents.into_iter().filter_map(one).collect()
}

/// Reads past a line: its length with its end, and how it begins.
fn skip_line(lines: &mut impl BufRead) -> io::Result<(usize, Vec<u8>)> {
    /// Enough for the number.
    const HEAD_BYTES: usize = 32;
    let (mut length, mut head) = (0, Vec::new());
    loop {
        let piece = lines.fill_buf()?;
        if piece.is_empty() {
            return Ok((length, head));
        }
        let end = memchr::memchr(b'\n', piece).map(|at| at + 1);
        let used = end.unwrap_or(piece.len());
        let wanted = HEAD_BYTES.saturating_sub(head.len()).min(used);
        head.extend_from_slice(piece.get(..wanted).unwrap_or_default());
        lines.consume(used);
        length += used;
        if end.is_some() {
            return Ok((length, head));
        }
    }
}

fn number(head: &[u8]) -> Option<u64> {
    let digits = head.strip_prefix(LINE)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}
