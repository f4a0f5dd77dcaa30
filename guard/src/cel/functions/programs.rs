//! Asking a long-lived program.

use super::{Call, Function, Gives, Prepared, Style, Want};
use crate::cel::{Failure, Value};

pub(super) const TABLE: &[Function] =
    &[Function::new("program", Style::Plain, Gives::Bool, program).takes(&[Want::STRING]).prepare(named).doc(
        "program(name) → bool",
        "What the program of that name under `programs` says of the call: yes or no. The name is written out.",
        "program(\"office_hours\")",
    )];

/// Which programs a policy asks must show when it is loaded.
fn named(constants: &[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)> {
    match constants.first().copied().flatten().and_then(Value::as_str) {
        Some(_) => Ok(Prepared::Nothing),
        None => {
            Err((0, "the program's name must be written out, as in program(\"office_hours\")".to_owned()))
        }
    }
}

fn program<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let name = call.text(0)?;
    call.env.ask_program(&name).map(Value::Bool)
}
