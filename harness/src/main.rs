//! The `framegate` binary: one line into the library.

fn main() -> std::process::ExitCode {
    framegate::main()
}
