//! The driver; see [`HELP`].

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use framegate_benches::measure::{calls, memory, results, startup};
use framegate_benches::options::{HELP, Options, Pin, What};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|word| word == "--help" || word == "-h") {
        return match io::stdout().write_all(HELP.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "compare: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<bool, String> {
    build_the_rest()?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let options = Options::parse(args, this.parent().unwrap_or(Path::new(".")))?;
    let mut all_held = true;
    for what in &options.what {
        all_held &= measure(*what, &options, args).map_err(|error| error.to_string())?;
    }
    Ok(all_held)
}

/// `cargo run` builds this program alone; what stands beside it would be missing or, worse, old.
fn build_the_rest() -> Result<(), String> {
    // Repeated on one core by ourselves: it has been done.
    let Some(cargo) = std::env::var_os("CARGO").filter(|_| std::env::var_os(PLACE).is_none()) else {
        return Ok(());
    };
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "-p", "framegate-benches", "-p", "framegate"]);
    // Not `--bins`: this program would be replaced while it runs.
    build.args(["--bin", "copy-floor", "--bin", "trivial-server", "--bin", "framegate"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    match build.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the programs to measure could not be built".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

fn measure(what: What, options: &Options, args: &[String]) -> io::Result<bool> {
    let name = match what {
        What::Results => return results::results(options),
        What::Memory => return memory::memory(options),
        What::Startup => return startup::startup(options),
        What::Pipelined => "pipelined",
        What::Rtt => "rtt",
    };
    let here = |place: &str| match what {
        What::Rtt => calls::rtt(options, place),
        _ => calls::pipelined(options, place),
    };
    match &options.pin {
        Pin::None => here(&placed()),
        Pin::Cpu(cpu) => pinned(cpu, name, args),
        // Not short-circuited: a column that fails pinned is still measured spread.
        Pin::Both => Ok(pinned("0", name, args)? & here(&placed())?),
    }
}

/// Repeats one measurement in a process that may use one core only, as will all its children:
/// the client is half of each round trip, so pinning the columns alone would not do.
fn pinned(cpu: &str, name: &str, args: &[String]) -> io::Result<bool> {
    let mut rest = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word == "--quick" {
            rest.push(word);
        } else if word.starts_with("--") {
            let value = words.next();
            if word != "--pin" {
                rest.push(word);
                rest.extend(value);
            }
        }
    }
    let status = Command::new("taskset")
        .args(["-c", cpu])
        .arg(std::env::current_exe()?)
        .args([name, "--pin", "none"])
        .args(rest)
        .env(PLACE, format!("all on core {cpu}"))
        .status()?;
    Ok(status.success())
}

/// Tells the repeated process what to print; nothing else depends on it.
const PLACE: &str = "COMPARE_PLACE";

fn placed() -> String {
    std::env::var(PLACE).unwrap_or_else(|_| "not pinned".to_owned())
}
