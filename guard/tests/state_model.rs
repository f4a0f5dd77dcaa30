//! The state against a naive twin: random policies, calls that overlap, answers, errors, lost answers, calls that were
//! not sent after all.
//!
//! The twin keeps a history for each variable and goes through every possible state there is, one by one; it knows
//! nothing of views, worlds or windows with running totals.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use std::collections::BTreeMap;

use crate::state_common::{HOUR, Made, Rig};
use framegate_guard::Outcome;
use framegate_guard::ledger::{Ledger as _, Settled};
use proptest::prelude::*;

/// `b0` and `b1` are plain, `b2` combines by `or`; `n1` is about to overflow.
const BOOLS: usize = 3;
const INTS: usize = 2;
const FIRST: [i64; INTS] = [0, i64::MAX - 2];

#[derive(Debug, Clone)]
enum Cond {
    Is(usize),
    Not(usize),
    Less(usize, i64),
    Window(i64),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
}

#[derive(Debug, Clone)]
enum Give {
    True,
    False,
    Copy(usize),
    Flip(usize),
}

#[derive(Debug, Clone)]
enum Count {
    Plus(usize, i64),
    Const(i64),
}

/// What an answer gives: `IsError` and `Mentions` to a variable, `Length` to a number.
#[derive(Debug, Clone)]
enum After {
    IsError(usize),
    Mentions(usize),
    Length(usize),
    /// To the window.
    Spend,
}

#[derive(Debug, Clone)]
struct Gate {
    cond: Cond,
    asks: bool,
}

#[derive(Debug, Clone)]
struct Tool {
    gate: Option<Gate>,
    when: Option<Cond>,
    bools: BTreeMap<usize, Give>,
    ints: BTreeMap<usize, Count>,
    window: Option<i64>,
    after: Vec<After>,
    undo: bool,
}

#[derive(Debug, Clone)]
enum Move {
    Call(usize),
    /// Sent though a person had to be asked.
    Force(usize),
    Done(usize, bool),
    Fail(usize, bool),
    Lose(usize),
    Unsend(usize),
    Pass,
}

// === as a policy ===

fn cel(cond: &Cond) -> String {
    match cond {
        Cond::Is(b) => format!("state.b{b}"),
        Cond::Not(b) => format!("!state.b{b}"),
        Cond::Less(n, k) => format!("state.n{n} < {k}"),
        Cond::Window(k) => format!("state.w < {k}"),
        Cond::And(a, b) => format!("({} && {})", cel(a), cel(b)),
        Cond::Or(a, b) => format!("({} || {})", cel(a), cel(b)),
    }
}

fn policy(tools: &[Tool], invariant: Option<&Cond>) -> String {
    let mut text = format!(
        "state:\n  b0: bool\n  b1: bool\n  b2: {{ type: bool, combine: or }}\n  n0: int\n  n1: {{ type: int, init: {} }}\n  w: {{ type: window, per: hour }}\n",
        FIRST[1]
    );
    if let Some(cond) = invariant {
        text.push_str(&format!("invariants:\n  - {{ name: inv, that: '{}' }}\n", cel(cond)));
    }
    text.push_str("rules:\n");
    for (at, tool) in tools.iter().enumerate() {
        if let Some(gate) = &tool.gate {
            let otherwise = if gate.asks { "ask" } else { "deny" };
            text.push_str(&format!(
                "  - {{ name: gate{at}, tools: [t{at}], that: '{}', otherwise: {otherwise} }}\n",
                cel(&gate.cond)
            ));
        }
        let set = tool.bools.iter().map(|(b, give)| {
            let give = match give {
                Give::True => "true".to_owned(),
                Give::False => "false".to_owned(),
                Give::Copy(other) => format!("state.b{other}"),
                Give::Flip(other) => format!("!state.b{other}"),
            };
            format!("b{b}: '{give}'")
        });
        let ints = tool.ints.iter().map(|(n, count)| match count {
            Count::Plus(other, by) => format!("n{n}: 'state.n{other} + {by}'"),
            Count::Const(k) => format!("n{n}: {k}"),
        });
        let window = tool.window.iter().map(|amount| format!("w: {amount}"));
        let set: Vec<String> = set.chain(ints).chain(window).collect();
        let after: Vec<String> = tool
            .after
            .iter()
            .map(|after| match after {
                After::IsError(b) => format!("b{b}: result.is_error"),
                After::Mentions(b) => format!("b{b}: 'state.b{b} || result.text.contains(\"x\")'"),
                After::Length(n) => format!("n{n}: 'state.n{n} + size(result.text)'"),
                After::Spend => "w: '1 + size(result.text)'".to_owned(),
            })
            .collect();
        if set.is_empty() && after.is_empty() {
            continue;
        }
        text.push_str(&format!("  - name: does{at}\n    tools: [t{at}]\n"));
        if let Some(when) = &tool.when {
            text.push_str(&format!("    when: '{}'\n", cel(when)));
        }
        if !set.is_empty() {
            text.push_str(&format!("    set: {{ {} }}\n", set.join(", ")));
            if tool.undo {
                text.push_str("    on_error: undo\n");
            }
        }
        if !after.is_empty() {
            text.push_str(&format!("    after: {{ {} }}\n", after.join(", ")));
        }
    }
    text
}

// === the twin ===

/// What a bool may be: false, true; neither where nothing is known of it. What a number is, if it is known.
type May = [bool; 2];
type Num = Option<i64>;

#[derive(Debug, Clone)]
struct Now {
    bools: [May; BOOLS],
    ints: [Num; INTS],
    window: Num,
}

/// One state that is possible.
struct World<'n> {
    bools: [Option<bool>; BOOLS],
    of: &'n Now,
}

fn worlds(now: &Now) -> Vec<World<'_>> {
    let mut all = Vec::new();
    for bits in 0..1_usize << BOOLS {
        let bools: [bool; BOOLS] = std::array::from_fn(|at| bits >> at & 1 == 1);
        let is_possible =
            |(is, may): (&bool, &May)| if *may == UNKNOWN { !*is } else { may[usize::from(*is)] };
        if bools.iter().zip(&now.bools).all(is_possible) {
            let known = |at: usize| (now.bools[at] != UNKNOWN).then_some(bools[at]);
            all.push(World { bools: std::array::from_fn(known), of: now });
        }
    }
    all
}

impl World<'_> {
    fn holds(&self, cond: &Cond) -> Option<bool> {
        match cond {
            Cond::Is(b) => self.bools[*b],
            Cond::Not(b) => self.bools[*b].map(|value| !value),
            Cond::Less(n, k) => self.of.ints[*n].map(|n| n < *k),
            Cond::Window(k) => self.of.window.map(|sum| sum < *k),
            Cond::And(a, b) => match (self.holds(a), self.holds(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Cond::Or(a, b) => match (self.holds(a), self.holds(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }
}

/// Whether it holds in every state: `Some(false)` where it fails in one, `None` where that cannot be told.
fn everywhere(cond: &Cond, now: &Now) -> Option<bool> {
    let all: Vec<Option<bool>> = worlds(now).iter().map(|world| world.holds(cond)).collect();
    if all.contains(&Some(false)) {
        return Some(false);
    }
    if all.contains(&None) { None } else { Some(true) }
}

/// What each step gave a variable, in order.
type History<T> = Vec<(u64, T)>;

#[derive(Debug, Clone)]
struct Open {
    tool: usize,
    /// What it set, by variable: only that is taken back.
    bools: Vec<usize>,
    ints: Vec<usize>,
    after: Option<bool>,
    /// When it was decided.
    time: i64,
}

#[derive(Debug, Default)]
struct Twin {
    bools: [History<May>; BOOLS],
    ints: [History<Num>; INTS],
    /// Who, when, and how much; nothing where nobody knows.
    window: Vec<(u64, i64, Num)>,
    open: BTreeMap<u64, Open>,
}

/// What stands against a call.
#[derive(Default)]
struct Wrong {
    denied: bool,
    asked: bool,
}

/// What a call would do.
struct Plan {
    wrong: Wrong,
    bools: Vec<(usize, May)>,
    ints: Vec<(usize, Num)>,
    window: Option<Num>,
    /// Its answer has effects: for certain, or perhaps.
    after: Option<bool>,
}

impl Plan {
    fn outcome(&self) -> Outcome {
        match (self.wrong.denied, self.wrong.asked) {
            (true, _) => Outcome::Deny,
            (_, true) => Outcome::Ask,
            _ => Outcome::Allow,
        }
    }

    fn bools(&mut self, tool: &Tool, now: &Now, whens: &[Option<bool>]) {
        for (b, give) in &tool.bools {
            // In each state: an error, nothing, or a value.
            let given = worlds(now).into_iter().zip(whens).map(|(world, when)| match when {
                None => None,
                Some(false) => Some(None),
                Some(true) => match give {
                    Give::True => Some(Some(true)),
                    Give::False => Some(Some(false)),
                    Give::Copy(other) => world.bools[*other].map(Some),
                    Give::Flip(other) => world.bools[*other].map(|value| Some(!value)),
                },
            });
            let given: Vec<Option<Option<bool>>> = given.collect();
            if given.contains(&None) {
                self.wrong.asked = true;
                self.bools.push((*b, UNKNOWN));
            } else if given.iter().all(|one| *one == given[0]) {
                self.bools.extend(given[0].flatten().map(|value| (*b, [!value, value])));
            } else {
                self.bools.push((*b, BOTH));
            }
        }
    }

    fn ints(&mut self, tool: &Tool, now: &Now, whens: &[Option<bool>]) {
        let runs = whens.iter().filter(|when| **when == Some(true)).count();
        for (n, count) in &tool.ints {
            let value = match count {
                Count::Const(k) => Ok(*k),
                Count::Plus(other, by) => match now.ints[*other] {
                    Some(value) => value.checked_add(*by).ok_or(true),
                    None => Err(false),
                },
            };
            match value {
                _ if whens.contains(&None) => self.ints.push((*n, None)),
                _ if runs == 0 => {}
                Err(overflows) => {
                    self.wrong.denied |= overflows;
                    self.wrong.asked |= !overflows;
                    self.ints.push((*n, None));
                }
                Ok(value) if runs == whens.len() => self.ints.push((*n, Some(value))),
                Ok(_) => self.ints.push((*n, None)),
            }
        }
    }
}

const FALSE: May = [true, false];
const BOTH: May = [true, true];
const UNKNOWN: May = [false, false];

impl Twin {
    fn committed(&self, time: i64) -> Now {
        let bool_of = |history: &History<May>| history.last().map_or(FALSE, |(_, may)| *may);
        let young = |(_, at, _): &&(u64, i64, Num)| *at > time - HOUR;
        Now {
            bools: std::array::from_fn(|b| bool_of(&self.bools[b])),
            ints: std::array::from_fn(|n| self.ints[n].last().map_or(Some(FIRST[n]), |(_, value)| *value)),
            window: self.window.iter().filter(young).map(|(_, _, amount)| *amount).sum(),
        }
    }

    /// With what calls under way may change. A bool of which nothing is known is not better known for it.
    fn seen(&self, now: &Now, tools: &[Tool]) -> Now {
        let mut seen = now.clone();
        for open in self.open.values().filter(|open| open.after.is_some()) {
            for after in &tools[open.tool].after {
                match after {
                    After::IsError(b) | After::Mentions(b) if now.bools[*b] == UNKNOWN => {
                        seen.bools[*b] = UNKNOWN
                    }
                    After::IsError(b) | After::Mentions(b) => seen.bools[*b] = BOTH,
                    After::Length(n) => seen.ints[*n] = None,
                    After::Spend => seen.window = None,
                }
            }
        }
        seen
    }

    fn plan(&self, at: usize, tools: &[Tool], invariant: Option<&Cond>, time: i64) -> Plan {
        let (tool, now) = (&tools[at], self.committed(time));
        let whens: Vec<Option<bool>> = worlds(&now)
            .iter()
            .map(|world| tool.when.as_ref().map_or(Some(true), |when| world.holds(when)))
            .collect();
        let mut plan =
            Plan { wrong: Wrong::default(), bools: vec![], ints: vec![], window: None, after: None };
        if let Some(gate) = &tool.gate {
            match everywhere(&gate.cond, &self.seen(&now, tools)) {
                Some(true) => {}
                Some(false) if !gate.asks => plan.wrong.denied = true,
                _ => plan.wrong.asked = true,
            }
        }
        let has_set = !(tool.bools.is_empty() && tool.ints.is_empty() && tool.window.is_none());
        plan.wrong.asked |= whens.contains(&None) && (has_set || !tool.after.is_empty());
        plan.bools(tool, &now, &whens);
        plan.ints(tool, &now, &whens);
        if let Some(amount) = tool.window {
            plan.window = match () {
                () if whens.iter().all(|when| *when == Some(false)) => None,
                () if whens.iter().all(|when| *when == Some(true)) => Some(Some(amount)),
                () => Some(None),
            };
        }
        if !tool.after.is_empty() && !whens.iter().all(|when| *when == Some(false)) {
            plan.after = Some(whens.iter().all(|when| *when == Some(true)));
        }
        match invariant.map(|cond| everywhere(cond, &self.next(&plan, &now, tools))) {
            None | Some(Some(true)) => {}
            Some(Some(false)) => plan.wrong.denied = true,
            Some(None) => plan.wrong.asked = true,
        }
        plan
    }

    /// The state that a call would make; what is under way stays uncertain whatever it sets.
    fn next(&self, plan: &Plan, now: &Now, tools: &[Tool]) -> Now {
        let mut next = now.clone();
        for (b, may) in &plan.bools {
            next.bools[*b] = joined(*b, now.bools[*b], *may);
        }
        for (n, value) in &plan.ints {
            next.ints[*n] = *value;
        }
        if let Some(amount) = plan.window {
            next.window = next.window.zip(amount).map(|(sum, amount)| sum + amount);
        }
        self.seen(&next, tools)
    }

    fn send(&mut self, step: u64, at: usize, plan: Plan, time: i64) {
        let mut open = Open { tool: at, bools: vec![], ints: vec![], after: plan.after, time };
        let now = self.committed(time);
        for (b, may) in plan.bools {
            self.bools[b].push((step, joined(b, now.bools[b], may)));
            open.bools.push(b);
        }
        for (n, value) in plan.ints {
            self.ints[n].push((step, value));
            open.ints.push(n);
        }
        if let Some(amount) = plan.window {
            self.spend(step, time, amount);
        }
        self.open.insert(step, open);
    }

    /// An amount counts from when its call was decided, and never less long than one that came before it.
    fn spend(&mut self, step: u64, time: i64, amount: Num) {
        let last = self.window.last().map_or(time, |(_, at, _)| *at);
        self.window.push((step, time.max(last), amount));
    }

    fn take_back(&mut self, step: u64, open: &Open) {
        for b in &open.bools {
            if self.bools[*b].last().is_some_and(|(by, _)| *by == step) {
                self.bools[*b].pop();
            }
        }
        for n in &open.ints {
            if self.ints[*n].last().is_some_and(|(by, _)| *by == step) {
                self.ints[*n].pop();
            }
        }
        self.window.retain(|(by, ..)| *by != step);
    }

    /// `answer`: whether it is an error, and whether it mentions `x`.
    fn settle(&mut self, step: u64, tools: &[Tool], answer: Option<(bool, bool)>, time: i64) {
        let open = self.open.remove(&step).unwrap();
        let tool = &tools[open.tool];
        if tool.undo && answer.is_some_and(|(is_error, _)| is_error) {
            self.take_back(step, &open);
        }
        let Some(is_certain) = open.after else { return };
        let now = self.committed(time);
        for after in &tool.after {
            let may = |value: bool| [!value, value];
            match (after, answer.filter(|_| is_certain)) {
                (After::IsError(b), Some((is_error, _))) => {
                    let is = joined(*b, now.bools[*b], may(is_error));
                    self.bools[*b].push((step, is));
                }
                (After::Mentions(b), Some((_, mentions))) => {
                    let given = if mentions { may(true) } else { now.bools[*b] };
                    self.bools[*b].push((step, joined(*b, now.bools[*b], given)));
                }
                (After::Length(n), Some((_, mentions))) => {
                    let value = now.ints[*n].and_then(|value| value.checked_add(i64::from(mentions)));
                    self.ints[*n].push((step, value));
                }
                (After::IsError(b) | After::Mentions(b), None) => {
                    self.bools[*b].push((step, joined(*b, now.bools[*b], BOTH)));
                }
                (After::Length(n), None) => self.ints[*n].push((step, None)),
                (After::Spend, answer) => {
                    self.spend(step, open.time, answer.map(|(_, mentions)| 1 + i64::from(mentions)));
                }
            }
        }
    }
}

/// `b2` is true for ever once it is.
fn joined(b: usize, before: May, given: May) -> May {
    const TRUE: May = [false, true];
    match (before, given) {
        _ if b != 2 => given,
        (TRUE, _) | (_, TRUE) => TRUE,
        (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
        (FALSE, FALSE) => FALSE,
        _ => BOTH,
    }
}

// === what is tried ===

fn conds() -> impl Strategy<Value = Cond> {
    let leaf = prop_oneof![
        (0..BOOLS).prop_map(Cond::Is),
        (0..BOOLS).prop_map(Cond::Not),
        (1..4_i64).prop_map(|k| Cond::Less(0, k)),
        (0..3_i64).prop_map(|k| Cond::Less(1, FIRST[1] + k)),
        (1..4_i64).prop_map(Cond::Window),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let pair = (inner.clone(), inner);
        prop_oneof![
            pair.clone().prop_map(|(a, b)| Cond::And(a.into(), b.into())),
            pair.prop_map(|(a, b)| Cond::Or(a.into(), b.into())),
        ]
    })
}

/// Without numbers, of which nothing may be known.
fn clear_conds() -> impl Strategy<Value = Cond> {
    prop_oneof![
        (0..BOOLS).prop_map(Cond::Is),
        (0..BOOLS).prop_map(Cond::Not),
        (1..4_i64).prop_map(Cond::Window)
    ]
}

fn gives() -> impl Strategy<Value = Give> {
    prop_oneof![
        Just(Give::True),
        Just(Give::False),
        (0..BOOLS).prop_map(Give::Copy),
        (0..BOOLS).prop_map(Give::Flip)
    ]
}

fn counts() -> impl Strategy<Value = Count> {
    prop_oneof![(0..INTS, 0..2_i64).prop_map(|(n, by)| Count::Plus(n, by)), (0..3_i64).prop_map(Count::Const)]
}

fn afters() -> impl Strategy<Value = Vec<After>> {
    let one = prop_oneof![
        (0..BOOLS).prop_map(After::IsError),
        (0..2_usize).prop_map(After::Mentions),
        (0..INTS).prop_map(After::Length),
        Just(After::Spend)
    ];
    prop::collection::vec(one, 0..3).prop_map(|all| {
        let mut seen = std::collections::BTreeSet::new();
        let of = |after: &After| match after {
            After::IsError(b) | After::Mentions(b) => *b,
            After::Length(n) => BOOLS + n,
            After::Spend => BOOLS + INTS,
        };
        all.into_iter().filter(|after| seen.insert(of(after))).collect()
    })
}

fn tools() -> impl Strategy<Value = Tool> {
    let gate = prop::option::of((conds(), any::<bool>()).prop_map(|(cond, asks)| Gate { cond, asks }));
    let bools = prop::collection::btree_map(0..BOOLS, gives(), 0..2);
    let ints = prop::collection::btree_map(0..INTS, counts(), 0..2);
    let when = prop::option::weighted(0.3, clear_conds());
    (gate, when, bools, ints, prop::option::of(1..3_i64), afters(), any::<bool>()).prop_map(
        |(gate, when, bools, ints, window, after, undo)| Tool {
            gate,
            when,
            bools,
            ints,
            window,
            after,
            undo,
        },
    )
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => (0..3_usize).prop_map(Move::Call),
        1 => (0..3_usize).prop_map(Move::Force),
        2 => (0..4_usize, any::<bool>()).prop_map(|(at, x)| Move::Done(at, x)),
        1 => (0..4_usize, any::<bool>()).prop_map(|(at, x)| Move::Fail(at, x)),
        1 => (0..4_usize).prop_map(Move::Lose),
        1 => (0..4_usize).prop_map(Move::Unsend),
        1 => Just(Move::Pass),
    ];
    prop::collection::vec(one, 1..40)
}

fn play(tools: &[Tool], invariant: Option<&Cond>, moves: &[Move]) -> Result<(), TestCaseError> {
    let rig = Rig::new(&policy(tools, invariant));
    let (mut twin, mut open) = (Twin::default(), Vec::<Made>::new());
    let mut time = 1_000 * HOUR;
    for (number, one) in moves.iter().enumerate() {
        match one {
            Move::Call(at) | Move::Force(at) => {
                let forces = matches!(one, Move::Force(_));
                let is_sent = |outcome| outcome == Outcome::Allow || (forces && outcome == Outcome::Ask);
                let plan = twin.plan(*at, tools, invariant, time);
                let made = rig.call_if(&format!("t{at}"), "{}", is_sent);
                prop_assert_eq!(made.outcome(), plan.outcome(), "move {}: {}", number, made.reasons());
                if is_sent(plan.outcome()) {
                    twin.send(made.sequence, *at, plan, time);
                    open.push(made);
                }
            }
            Move::Pass => {
                rig.pass(HOUR / 2);
                time += HOUR / 2;
            }
            Move::Done(at, _) | Move::Fail(at, _) | Move::Lose(at) | Move::Unsend(at) => {
                if *at >= open.len() {
                    continue;
                }
                let made = open.remove(*at);
                let text = |mentions: &bool| if *mentions { "x" } else { "" };
                match one {
                    Move::Done(_, x) => {
                        rig.done(&made, text(x));
                        twin.settle(made.sequence, tools, Some((false, *x)), time);
                    }
                    Move::Fail(_, x) => {
                        rig.failed(&made, text(x));
                        twin.settle(made.sequence, tools, Some((true, *x)), time);
                    }
                    Move::Lose(_) => {
                        rig.settle(&made, Settled::Lost, None);
                        twin.settle(made.sequence, tools, None, time);
                    }
                    _ => {
                        rig.ledger.undo(&rig.key, made.sequence);
                        let was = twin.open.remove(&made.sequence).unwrap();
                        twin.take_back(made.sequence, &was);
                    }
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_state_is_that_of_its_naive_twin(
        tools in prop::collection::vec(tools(), 3),
        invariant in prop::option::weighted(0.4, conds()),
        moves in moves(),
    ) {
        play(&tools, invariant.as_ref(), &moves)?;
    }
}
