//! `framegate import`: what another tool's configuration said, as a policy.

use std::io::Read;
use std::path::Path;

use framegate_guard::import::{self, Imported, elicitation_proxy};
use framegate_guard::policy::FILE_BYTES_MAX;
use framegate_guard::praxiom::Dialect;

use super::new_file;
use super::out::{Failure, Out, say};
use crate::args::{ImportArgs, ImportFrom, PraxiomArgs, ProxyArgs};
use crate::exit::Exit;
use crate::policy_file;

/// What the client's entry calls the policy where that goes to stdout.
const USUAL: &str = "framegate.yaml";

pub(crate) fn main(args: &ImportArgs) -> Exit {
    let imported = match &args.from {
        ImportFrom::ElicitationProxy(args) => proxy(args),
        ImportFrom::Praxiom(args) => praxiom(args),
    };
    match imported {
        Ok(()) => Exit::Clean,
        Err(failure) => failure.said(),
    }
}

fn proxy(args: &ProxyArgs) -> Result<(), Failure> {
    let output = new_file::named(args.output.as_deref());
    output.map_or(Ok(()), new_file::is_free)?;
    let text = read(&args.config)?;
    let policy = match output {
        // Clients start servers in folders of their own choice.
        Some(path) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string(),
        None => USUAL.to_owned(),
    };
    let name = args.config.display().to_string();
    let imported = elicitation_proxy(&name, &text, &policy).map_err(|why| Failure::policy(&why))?;
    let entry = entry(&imported, &policy);
    write(&imported, (&name, &policy), output, Some(&entry))
}

fn praxiom(args: &PraxiomArgs) -> Result<(), Failure> {
    let output = new_file::named(args.output.as_deref());
    output.map_or(Ok(()), new_file::is_free)?;
    let text = read(&args.policy)?;
    let name = args.policy.display().to_string();
    let imported = import::praxiom(&name, &text, &args.name).map_err(|why| Failure::policy(&why))?;
    let policy = output.map_or_else(|| USUAL.to_owned(), |path| path.display().to_string());
    write(&imported, (&name, &policy), output, None)
}

/// The policy to its file or to stdout; what else there is to say to the other.
fn write(
    imported: &Imported,
    (name, policy): (&str, &str),
    output: Option<&Path>,
    entry: Option<&str>,
) -> Result<(), Failure> {
    // As `run` will read it.
    let folder = output.and_then(Path::parent).unwrap_or(Path::new(""));
    let loaded = policy_file::parse(policy, imported.policy.as_bytes(), (folder, Dialect::Safe));
    let loaded = loaded.map_err(|why| Failure::policy(&why))?;
    let mut out = Out::stdout();
    match output {
        Some(path) => {
            new_file::write(path, &imported.policy)?;
            entry.map_or(Ok(()), |entry| out.line(entry)).map_err(|why| Failure::stdout(&why))?;
        }
        None => {
            out.line(imported.policy.trim_end()).map_err(|why| Failure::stdout(&why))?;
            entry.iter().for_each(|entry| say(entry));
        }
    }
    out.flush().map_err(|why| Failure::stdout(&why))?;
    loaded.warnings.iter().for_each(|warning| say(&warning.to_string()));
    imported.left.iter().for_each(|left| say(&format!("not carried over: {name}, {left}")));
    Ok(())
}

/// What to put into the client's configuration.
fn entry(imported: &Imported, policy: &str) -> String {
    match &imported.client {
        Some(entry) => format!(
            "the policy is `{policy}`; in the client's configuration this replaces the old entry:\n{}",
            entry.trim_end()
        ),
        None => format!(
            "the policy is `{policy}`; its server is not started by a command, so there is no entry for the client yet"
        ),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    // One byte more: what is too long is told as such.
    let most = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let file = Failure::open(path)?;
    let name = path.display().to_string();
    file.take(most).read_to_end(&mut text).map_err(|why| Failure::read(&name, &why))?;
    Ok(text)
}
