//! Times of day and dates, in any zone of the bundled IANA database.

use super::convert::{MICROS_PER_SECOND, jiff_timestamp};
use super::{Call, Function, Gives, Prepared, Style, Want};
use crate::cel::{Failure, Value};

use jiff::Zoned;
use jiff::civil::Time;
use jiff::tz::TimeZone;

const T: Want = Want::TIMESTAMP;
const TD: Want = Want::TIMESTAMP.or(Want::DURATION);

/// A zone that is named while it runs is looked up in the database.
const STEPS_PER_ZONE: u64 = 50;

type Body = for<'a> fn(&mut Call<'_, 'a>) -> Result<Value<'a>, Failure>;

const fn getter(name: &'static str, takes: &'static [Want], body: Body) -> Function {
    Function::new(name, Style::Method, Gives::Number, body).takes(takes).optional(1).prepare(zone_at_1)
}

pub(super) const TABLE: &[Function] = &[
    Function::new("between", Style::Plain, Gives::Bool, between)
        .takes(&[T, Want::STRING, Want::STRING, Want::STRING])
        .optional(1)
        .prepare(zone_at_3)
        .doc(
            "between(timestamp, from, to, zone) → bool",
            "Whether its time of day lies in [from, to) (UTC without a zone); over midnight when from is later.",
            "between(timestamp(\"2026-07-01T07:30:00Z\"), \"09:00\", \"17:30\", \"Europe/Berlin\")",
        ),
    getter("getHours", &[TD, Want::STRING], |call| get(call, |z| z.hour().into(), Some(3600))).doc(
        "timestamp.getHours(zone) → number",
        "Hour of the day, 0 to 23; of a duration its whole hours.",
        "timestamp(\"2026-07-01T07:30:00Z\").getHours(\"Europe/Berlin\") == 9",
    ),
    getter("getMinutes", &[TD, Want::STRING], |call| get(call, |z| z.minute().into(), Some(60))).doc(
        "timestamp.getMinutes(zone) → number",
        "Minute of the hour; of a duration its whole minutes.",
        "duration(\"2h\").getMinutes() == 120",
    ),
    getter("getSeconds", &[TD, Want::STRING], |call| get(call, |z| z.second().into(), Some(1))).doc(
        "timestamp.getSeconds(zone) → number",
        "Second of the minute; of a duration its whole seconds.",
        "timestamp(\"2026-07-01T07:30:09Z\").getSeconds() == 9",
    ),
    getter("getMilliseconds", &[T, Want::STRING], |call| get(call, |z| z.millisecond().into(), None)).doc(
        "timestamp.getMilliseconds(zone) → number",
        "Millisecond of the second.",
        "timestamp(\"2026-07-01T07:30:09.25Z\").getMilliseconds() == 250",
    ),
    getter("getFullYear", &[T, Want::STRING], |call| get(call, |z| z.year().into(), None)).doc(
        "timestamp.getFullYear(zone) → number",
        "The year.",
        "timestamp(\"2026-07-01T07:30:00Z\").getFullYear() == 2026",
    ),
    getter("getMonth", &[T, Want::STRING], |call| get(call, |z| i64::from(z.month()) - 1, None)).doc(
        "timestamp.getMonth(zone) → number",
        "The month; January is 0.",
        "timestamp(\"2026-07-01T07:30:00Z\").getMonth() == 6",
    ),
    getter("getDate", &[T, Want::STRING], |call| get(call, |z| z.day().into(), None)).doc(
        "timestamp.getDate(zone) → number",
        "The day of the month; the first is 1.",
        "timestamp(\"2026-07-01T07:30:00Z\").getDate() == 1",
    ),
    getter("getDayOfMonth", &[T, Want::STRING], |call| get(call, |z| i64::from(z.day()) - 1, None)).doc(
        "timestamp.getDayOfMonth(zone) → number",
        "The day of the month; the first is 0.",
        "timestamp(\"2026-07-01T07:30:00Z\").getDayOfMonth() == 0",
    ),
    getter("getDayOfWeek", &[T, Want::STRING], |call| {
        get(call, |z| z.weekday().to_sunday_zero_offset().into(), None)
    })
    .doc(
        "timestamp.getDayOfWeek(zone) → number",
        "The day of the week; Sunday is 0.",
        "timestamp(\"2026-07-01T07:30:00Z\").getDayOfWeek() == 3",
    ),
    getter("getDayOfYear", &[T, Want::STRING], |call| get(call, |z| i64::from(z.day_of_year()) - 1, None)).doc(
        "timestamp.getDayOfYear(zone) → number",
        "The day of the year; the first is 0.",
        "timestamp(\"2026-02-01T07:30:00Z\").getDayOfYear() == 31",
    ),
];

fn get<'a>(
    call: &mut Call<'_, 'a>,
    part: fn(&Zoned) -> i64,
    seconds_per_unit: Option<i64>,
) -> Result<Value<'a>, Failure> {
    if let (Some(Value::Duration(micros)), Some(seconds)) = (call.args.first(), seconds_per_unit) {
        return Ok(Value::from(micros / (seconds * MICROS_PER_SECOND)));
    }
    let local = local(call, 1)?;
    Ok(Value::from(part(&local)))
}

/// The first argument in the zone that another one names.
fn local(call: &mut Call<'_, '_>, zone_at: usize) -> Result<Zoned, Failure> {
    let instant = match call.take(0) {
        Value::Timestamp(instant) => jiff_timestamp(instant)?,
        other => return Err(call.unfit(0, "a timestamp", &other)),
    };
    let zone = match call.prepared {
        Prepared::Zone(zone) => zone.clone(),
        _ if call.has(zone_at) => {
            call.budget.spend(STEPS_PER_ZONE)?;
            zone(&call.text(zone_at)?).map_err(Failure::error)?
        }
        _ => TimeZone::UTC,
    };
    Ok(instant.to_zoned(zone))
}

fn between<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (from, to) = (time_of_day(&call.text(1)?), time_of_day(&call.text(2)?));
    let time = local(call, 3)?.time();
    let (from, to) = (from.map_err(Failure::error)?, to.map_err(Failure::error)?);
    Ok(Value::Bool(if from <= to { from <= time && time < to } else { from <= time || time < to }))
}

/// `08:00` or `08:00:30`; `24:00` is not one (`00:00` says the same).
fn time_of_day(text: &str) -> Result<Time, String> {
    let fault = || format!("`{}` is not a time of day like 08:00", text.escape_debug());
    let part = |text: &str| (text.len() == 2).then(|| text.parse::<i8>().ok()).flatten();
    let mut parts = text.split(':').map(part);
    let (hour, minute) = (parts.next().flatten(), parts.next().flatten());
    let second = parts.next().unwrap_or(Some(0));
    match (hour, minute, second, parts.next()) {
        (Some(hour), Some(minute), Some(second), None) => {
            Time::new(hour, minute, second, 0).map_err(|_| fault())
        }
        _ => Err(fault()),
    }
}

/// CEL also names zones by their offset: `+02:00`.
fn zone(name: &str) -> Result<TimeZone, String> {
    let fault = || format!("unknown time zone `{}`", name.escape_debug());
    if let Some((hours, minutes)) = name.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':')) {
        let (hours, minutes): (i32, i32) =
            (hours.parse().map_err(|_| fault())?, minutes.parse().map_err(|_| fault())?);
        if !(0..=23).contains(&hours) || !(0..=59).contains(&minutes) {
            return Err(fault());
        }
        let seconds = (hours * 60 + minutes) * 60 * if name.starts_with('-') { -1 } else { 1 };
        return jiff::tz::Offset::from_seconds(seconds).map(TimeZone::fixed).map_err(|_| fault());
    }
    TimeZone::get(name).map_err(|_| fault())
}

fn zone_at_1(constants: &[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)> {
    constant_zone(constants, 1)
}

fn zone_at_3(constants: &[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)> {
    for at in [1, 2] {
        if let Some(text) = constants.get(at).copied().flatten().and_then(Value::as_str) {
            time_of_day(text).map_err(|message| (at, message))?;
        }
    }
    constant_zone(constants, 3)
}

fn constant_zone(constants: &[Option<&Value<'static>>], at: usize) -> Result<Prepared, (usize, String)> {
    match constants.get(at).copied().flatten().and_then(Value::as_str) {
        Some(name) => zone(name).map(Prepared::Zone).map_err(|message| (at, message)),
        None => Ok(Prepared::Nothing),
    }
}
