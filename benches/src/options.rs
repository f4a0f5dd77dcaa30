//! What was typed, turned into what is meant.

use std::path::{Path, PathBuf};

use crate::column::Column;

/// Printed for `--help`.
pub const HELP: &str = "\
compare: Framegate against no proxy, the copy floor and other proxies

usage: compare WHAT... [options]

WHAT
  rtt         round trip of a small tools/call, one at a time
  pipelined   small calls per second with 64 in flight
  results     large results: 100k 1M 10M 60M x four bodies x id first and last
  memory      resident memory of the wrapper, idle and with a 60 MiB frame each way
  startup     from spawning to the answer to initialize
  all         all of these

options
  --framegate PATH|none   the binary behind the columns `framegate`, `framegate --quiet`,
                          `guarded` (--quiet --policy benches/policy.yaml --store none),
                          `guarded and recorded` and the same with --durability full and bounded
                          (default: the one beside this program); records are kept beside it
  --column NAME=COMMAND   adds a column; the word {} in COMMAND stands for the server's
                          command line; words are cut at spaces, nothing is quoted
  --pin CPU|none|both     rtt and pipelined on one core, spread, or both (default: both, core 0)
  --rounds N              interleaved rounds of rtt and pipelined (15)
  --calls N               calls a round (rtt 2000, pipelined ten times as many)
  --sizes A,B             sizes of results in bytes, k and M allowed (100k,1M,10M,60M)
  --bodies A,B            text, escaped, records, json (all)
  --ids A,B               first, last (both)
  --limit SECONDS         longest any one call or round may take (30)
  --quick                 a smoke run of a few seconds; its figures mean nothing
  --help                  this text

Columns take turns within one run (A B C A B C ...). Compare figures of one run only, and with
the floor: the machine's own state moves absolute times by a factor of two and more.
A column that fails is marked and left out; the exit code is then 1.
";

/// One thing to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the help text")]
pub enum What {
    Rtt,
    Pipelined,
    Results,
    Memory,
    Startup,
}

/// Where the processes may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the help text")]
pub enum Pin {
    None,
    Both,
    Cpu(String),
}

/// Everything a measurement needs to know.
#[derive(Debug)]
#[expect(missing_docs, reason = "named as in the help text")]
pub struct Options {
    pub what: Vec<What>,
    pub columns: Vec<Column>,
    pub pin: Pin,
    pub rounds: usize,
    pub calls: usize,
    pub sizes: Vec<usize>,
    pub bodies: Vec<String>,
    pub ids: Vec<String>,
    pub limit_secs: u64,
    pub quick: bool,
}

impl Options {
    /// `programs` is the folder of the floor, the server and, unless another is named, Framegate.
    pub fn parse(args: &[String], programs: &Path) -> Result<Self, String> {
        let server = vec![program(programs, "trivial-server")?];
        let floor = program(programs, "copy-floor")?;
        let mut options = Self::defaults(args.iter().any(|word| word == "--quick"));
        options.columns.push(Column::new("direct", "{}", &server));
        let floor = [vec![floor, "--".to_owned()], server.clone()].concat();
        options.columns.push(Column { name: "floor".to_owned(), argv: floor });
        let mut words = args.iter();
        while let Some(word) = words.next() {
            if word == "--quick" {
                continue;
            }
            if !word.starts_with("--") {
                options.what.extend(what(word)?);
                continue;
            }
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            options.set(word, value, &server)?;
        }
        if options.what.is_empty() {
            return Err("nothing to measure; see --help".to_owned());
        }
        if !args.iter().any(|word| word == "--framegate") {
            let beside = program(programs, "framegate")
                .map_err(|error| format!("{error}, or say --framegate PATH or --framegate none"))?;
            options.set("--framegate", &beside, &server)?;
        }
        Ok(options)
    }

    fn defaults(quick: bool) -> Self {
        let list = |words: &str| words.split(',').map(str::to_owned).collect();
        let sizes =
            if quick { vec![100_000, 1_000_000] } else { [1, 10, 100, 600].map(|n| n * 100_000).to_vec() };
        Self {
            what: Vec::new(),
            columns: Vec::new(),
            pin: Pin::Both,
            rounds: if quick { 3 } else { 15 },
            calls: if quick { 200 } else { 2_000 },
            sizes,
            bodies: list("text,escaped,records,json"),
            ids: list("first,last"),
            limit_secs: 30,
            quick,
        }
    }

    fn set(&mut self, name: &str, value: &str, server: &[String]) -> Result<(), String> {
        match name {
            "--framegate" if value == "none" => {}
            "--framegate" => {
                let path = PathBuf::from(value);
                let path = path.canonicalize().map_err(|error| format!("`{value}`: {error}"))?;
                let path = path.to_string_lossy().into_owned();
                let policy = concat!("--policy=", env!("CARGO_MANIFEST_DIR"), "/policy.yaml");
                let stores = Stores::beside(Path::new(&path))?;
                let recorded =
                    |how: &str| [format!("--store={}", stores.file(how)), format!("--durability={how}")];
                let (normal, full, bounded) = (recorded("normal"), recorded("full"), recorded("bounded"));
                let guarded = ["--quiet", policy];
                let with = |more: &[String]| -> Vec<String> {
                    guarded.iter().map(|flag| (*flag).to_owned()).chain(more.iter().cloned()).collect()
                };
                let flags: [(&str, Vec<String>); 6] = [
                    ("framegate", Vec::new()),
                    ("framegate --quiet", vec!["--quiet".to_owned()]),
                    ("guarded", with(&["--store=none".to_owned()])),
                    ("guarded and recorded", with(&normal)),
                    ("... --durability full", with(&full)),
                    ("... --durability bounded", with(&bounded)),
                ];
                for (name, flags) in flags {
                    let mut argv = vec![path.clone(), "run".to_owned()];
                    argv.extend(flags);
                    argv.push("--".to_owned());
                    argv.extend_from_slice(server);
                    self.columns.push(Column { name: name.to_owned(), argv });
                }
            }
            "--column" => {
                let (name, command) =
                    value.split_once('=').ok_or_else(|| format!("`{value}` is not NAME=COMMAND"))?;
                self.columns.push(Column::new(name, command, server));
            }
            "--pin" => {
                self.pin = match value {
                    "none" => Pin::None,
                    "both" => Pin::Both,
                    cpu => Pin::Cpu(count(cpu)?.to_string()),
                }
            }
            "--rounds" => self.rounds = count(value)?.max(1),
            "--calls" => self.calls = count(value)?.max(1),
            "--limit" => self.limit_secs = u64::try_from(count(value)?.max(1)).unwrap_or(30),
            "--sizes" => self.sizes = value.split(',').map(count).collect::<Result<_, _>>()?,
            "--bodies" => self.bodies = chosen(value, &["text", "escaped", "records", "json"])?,
            "--ids" => self.ids = chosen(value, &["first", "last"])?,
            _ => return Err(format!("unknown option `{name}`; see --help")),
        }
        Ok(())
    }
}

/// A folder for this run's records, on the disk that the programs are on: a folder for temporary files is often
/// no disk, where a sync costs nothing.
struct Stores(PathBuf);

impl Stores {
    fn beside(program: &Path) -> Result<Stores, String> {
        let folder = program.with_file_name("compare-stores");
        // What an earlier run left.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
        Ok(Stores(folder))
    }

    fn file(&self, how: &str) -> String {
        self.0.join(format!("{how}-{}.db", std::process::id())).to_string_lossy().into_owned()
    }
}

fn what(word: &str) -> Result<Vec<What>, String> {
    let one = match word {
        "rtt" => What::Rtt,
        "pipelined" => What::Pipelined,
        "results" => What::Results,
        "memory" => What::Memory,
        "startup" => What::Startup,
        "all" => {
            return Ok(vec![What::Rtt, What::Pipelined, What::Results, What::Memory, What::Startup]);
        }
        _ => return Err(format!("nothing called `{word}` to measure; see --help")),
    };
    Ok(vec![one])
}

fn program(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name);
    if path.is_file() {
        Ok(path.to_string_lossy().into_owned())
    } else {
        Err(format!(
            "`{}` is missing: cargo build --release -p framegate-benches -p framegate",
            path.display()
        ))
    }
}

fn count(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k') => (text.trim_end_matches('k'), 1_000),
        Some(b'M') => (text.trim_end_matches('M'), 1_000_000),
        _ => (text, 1),
    };
    let number: usize = digits.parse().map_err(|_| format!("`{text}` is not a number"))?;
    number.checked_mul(unit).ok_or_else(|| format!("`{text}` is too large"))
}

fn chosen(text: &str, known: &[&str]) -> Result<Vec<String>, String> {
    let words = text.split(',').map(|word| {
        known.contains(&word).then(|| word.to_owned()).ok_or_else(|| format!("`{word}` is none of {known:?}"))
    });
    words.collect()
}
