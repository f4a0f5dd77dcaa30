//! A file that a command makes. One that is there is somebody's: it is never overwritten.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use super::out::Failure;
use crate::exit::Exit;

/// The file that `-o` names; `-` is stdout, as it is everywhere.
pub(super) fn named(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}

/// Whether there is nothing of this name: asked before work that would be for nothing.
pub(super) fn is_free(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() { Err(is_there(path)) } else { Ok(()) }
}

/// Makes the file.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|why| match why.kind() {
        io::ErrorKind::AlreadyExists => is_there(path),
        _ => Failure { exit: Exit::File, text: format!("`{}` cannot be written: {why}", path.display()) },
    })
}

fn is_there(path: &Path) -> Failure {
    let text = format!(
        "`{}` is there already and is not overwritten: give another name, or remove it",
        path.display()
    );
    Failure { exit: Exit::File, text }
}
