//! Whole numbers, and what a member is in JSON.

use super::{Call, Function, Gives, Style, Want};
use crate::cel::{Failure, Value};
use crate::decimal::{Decimal, NumberError};
use crate::json::Kind;
use crate::praxiom;

pub(super) const TABLE: &[Function] = &[
    Function::new("div_euclid", Style::Plain, Gives::Number, div_euclid)
        .takes(&[Want::NUMBER, Want::NUMBER])
        .doc(
            "div_euclid(a, b) → number",
            "How often the whole number b goes into the whole number a, so that mod_euclid() is left. Zero is an error.",
            "div_euclid(-7, 2) == -4 && div_euclid(7, -2) == -3",
        ),
    Function::new("mod_euclid", Style::Plain, Gives::Number, mod_euclid)
        .takes(&[Want::NUMBER, Want::NUMBER])
        .doc(
            "mod_euclid(a, b) → number",
            "What is left of it: never negative, unlike that of `%`.",
            "mod_euclid(-7, 2) == 1 && mod_euclid(7, -2) == 1 && -7 % 2 == -1",
        ),
    Function::new("json_type", Style::Plain, Gives::String, json_type)
        .takes(&[Want::MAP, Want::STRING])
        .doc(
            "json_type(map, name) → string",
            "What a member is: absent, null, bool, int (written without fraction and exponent), float, string, list or map.",
            "json_type({\"n\": 5}, \"n\") == \"int\" && json_type({\"n\": 5}, \"m\") == \"absent\"",
        ),
    Function::new("dumps", Style::Plain, Gives::String, dumps).takes(&[Want::MAP]).doc(
        "dumps(args) → string",
        "The arguments as Python's json.dumps writes them with sorted keys and ensure_ascii=False: what a policy of praxiom calls payload.",
        "dumps(args).startsWith(\"{\")",
    ),
];

fn div_euclid<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    euclid(call).map(|(quotient, _)| Value::Number(quotient))
}

fn mod_euclid<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    euclid(call).map(|(_, remainder)| Value::Number(remainder))
}

/// Quotient and remainder; `0 <= remainder < |divisor|`.
fn euclid(call: &mut Call<'_, '_>) -> Result<(Decimal, Decimal), Failure> {
    let mut whole = |at: usize| match call.take(at) {
        Value::Number(number) if number.is_integer() => Ok(number),
        other => Err(call.unfit(at, "a whole number", &other)),
    };
    let (dividend, divisor) = (whole(0)?, whole(1)?);
    let digits = (dividend.digits() as usize).max(divisor.digits() as usize);
    // Long division grows with the square.
    call.budget.spend_items((digits / 16).saturating_mul(1 + digits / 64))?;
    let divided = || -> Result<(Decimal, Decimal), NumberError> {
        let rest = dividend.rem(&divisor)?;
        let size = if divisor.is_negative() { divisor.neg() } else { divisor.clone() };
        let rest = if rest.is_negative() { rest.add(&size)? } else { rest };
        Ok((dividend.sub(&rest)?.div(&divisor)?, rest))
    };
    divided().map_err(|error| Failure::error(error.to_string()))
}

fn json_type<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let map = call.take(0);
    let name = call.text(1)?;
    let is = match &map {
        Value::Json(json) => match json.get(&name) {
            None => "absent",
            Some(member) => match member.kind() {
                Kind::Null => "null",
                Kind::Bool => "bool",
                Kind::Number if member.raw().contains(['.', 'e', 'E']) => "float",
                Kind::Number => "int",
                Kind::String => "string",
                Kind::Array => "list",
                Kind::Object => "map",
            },
        },
        Value::Map(map) => match map.get(&*name) {
            None => "absent",
            Some(Value::Number(number)) if number.is_integer() => "int",
            Some(Value::Number(_)) => "float",
            Some(Value::Json(json)) if json.kind() == Kind::Array => "list",
            Some(Value::Json(_) | Value::Map(_)) => "map",
            Some(Value::List(_)) => "list",
            Some(Value::Bool(_)) => "bool",
            Some(Value::Null) => "null",
            Some(_) => "string",
        },
        other => return Err(call.unfit(0, "a map", other)),
    };
    Ok(Value::text(is))
}

fn dumps<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let map = call.take(0);
    let Value::Json(json) = &map else { return Err(call.unfit(0, "the arguments", &map)) };
    call.budget.spend_built(json.raw().len())?;
    let text = praxiom::payload(*json).ok_or_else(|| Failure::error("a number in it is too long"))?;
    Ok(Value::from(text))
}

#[cfg(test)]
mod tests {
    use crate::cel::{Budget, Env, Expression, Scope, Type, Value};
    use crate::json::{Document, Limits};
    use crate::world::{NoWorld, World};

    struct Args(Document);

    impl Env for Args {
        fn variable(&self, name: &str) -> Option<Value<'_>> {
            (name == "args").then(|| Value::Json(self.0.root()))
        }

        fn world(&self) -> &dyn World {
            &NoWorld
        }
    }

    fn is(source: &str) -> Result<bool, String> {
        let text = r#"{"b":[1.50,{"z":null,"a":"é\u0001"}],"a":true,"n":7,"f":7.0,"e":1e2,"t":"x","o":{}}"#;
        let args = Args(Document::read(text.into(), &Limits::default()).unwrap());
        let scope = Scope::new().with("args", Type::map(Type::Dyn));
        let expression = Expression::compile(source, &scope).map_err(|problems| format!("{problems:?}"))?;
        let value =
            expression.evaluate(&args, &mut Budget::default()).map_err(|failure| failure.to_string())?;
        Ok(value.as_bool() == Some(true))
    }

    #[test]
    fn division_is_euclids() {
        for (a, b, quotient, remainder) in [
            (7, 2, 3, 1),
            (-7, 2, -4, 1),
            (7, -2, -3, 1),
            (-7, -2, 4, 1),
            (6, 3, 2, 0),
            (-6, 3, -2, 0),
            (0, 5, 0, 0),
        ] {
            let source = format!("div_euclid({a}, {b}) == {quotient} && mod_euclid({a}, {b}) == {remainder}");
            assert_eq!(is(&source), Ok(true), "{source}");
        }
        let large = "9".repeat(400);
        assert_eq!(is(&format!("div_euclid({large}, 3) * 3 == {large}")), Ok(true));
        assert!(is("div_euclid(1, 0) == 1").is_err());
        assert!(is("mod_euclid(1.5, 2) == 1").unwrap_err().contains("a whole number"));
    }

    #[test]
    fn a_member_is_what_it_is_written_as() {
        for (name, is_a) in [
            ("a", "bool"),
            ("b", "list"),
            ("n", "int"),
            ("f", "float"),
            ("e", "float"),
            ("t", "string"),
            ("o", "map"),
            ("x", "absent"),
        ] {
            assert_eq!(is(&format!("json_type(args, \"{name}\") == \"{is_a}\"")), Ok(true), "{name}");
        }
    }

    #[test]
    fn arguments_are_written_as_python_writes_them() {
        let wanted = r#"{"a": true, "b": [1.5, {"a": "é\\u0001", "z": null}], "e": 100.0, "f": 7.0, "n": 7, "o": {}, "t": "x"}"#;
        assert_eq!(
            is(&format!("dumps(args) == {}", serde_json::Value::from(wanted.replace("\\\\", "\\")))),
            Ok(true)
        );
    }
}
