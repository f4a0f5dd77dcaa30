//! What the rules of one decision may take together.

use crate::cel::{Budget, Env, Expression, Failure, Memo, Value};

/// The steps of one decision, and what was learned with them.
#[derive(Debug)]
pub(crate) struct Purse<'a> {
    /// `left <= Budget::DECISION_STEPS`
    left: u64,
    /// Who spends just now, and who spent most, each with its steps.
    now: (&'a str, u64),
    most: (&'a str, u64),
    memo: Memo<'a>,
}

impl Default for Purse<'_> {
    fn default() -> Self {
        Purse { left: Budget::DECISION_STEPS, now: ("", 0), most: ("", 0), memo: Memo::default() }
    }
}

impl<'a> Purse<'a> {
    /// The value of a condition of this rule's. What is read for the first time is paid by who reads it.
    pub(crate) fn holds(
        &mut self,
        rule: &'a str,
        condition: &'a Expression,
        env: &'a dyn Env,
    ) -> Result<bool, Failure> {
        self.value(rule, condition, env)?.condition()
    }

    /// The value of an expression of this rule's.
    pub(crate) fn value(
        &mut self,
        rule: &'a str,
        expression: &'a Expression,
        env: &'a dyn Env,
    ) -> Result<Value<'a>, Failure> {
        let given = self.left.min(Budget::STEPS);
        let mut budget = Budget::new(given);
        let value = expression.evaluate_knowing(env, &mut budget, &mut self.memo);
        self.took(rule, given - budget.left());
        match value {
            // Whatever else is wrong with it: it was not evaluated to its end.
            Err(failure) if self.left == 0 => Err(Failure { message: self.spent(), ..failure }),
            value => value,
        }
    }

    /// What was learned is so no more: the next expression is evaluated in another state.
    pub(crate) fn forget(&mut self) {
        self.memo = Memo::default();
    }

    /// What is left of these steps, for expressions that read something else.
    pub(crate) fn rest<'b>(&self) -> Purse<'b> {
        Purse { left: self.left, ..Purse::default() }
    }

    fn took(&mut self, rule: &'a str, steps: u64) {
        self.left = self.left.saturating_sub(steps);
        let before = if self.now.0 == rule { self.now.1 } else { 0 };
        self.now = (rule, before + steps);
        if self.now.1 > self.most.1 {
            self.most = self.now;
        }
    }

    fn spent(&self) -> String {
        let (limit, (name, steps)) = (Budget::DECISION_STEPS, self.most);
        format!("one decision may take {limit} steps and these rules need more; `{name}` alone took {steps}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::Scope;
    use crate::world::{NoWorld, World};

    struct Nothing;

    impl Env for Nothing {
        fn variable(&self, _: &str) -> Option<Value<'_>> {
            None
        }

        fn world(&self) -> &dyn World {
            &NoWorld
        }
    }

    #[test]
    fn a_decision_takes_all_its_steps_and_not_one_more() {
        let compile = |source: &str| Expression::compile(source, &Scope::new()).unwrap();
        let cost = |expression: &Expression| {
            let mut budget = Budget::default();
            expression.evaluate(&Nothing, &mut budget).unwrap();
            Budget::STEPS - budget.left()
        };
        let (one, many) = (compile("true"), compile("[1, 2, 3, 4].all(x, x > 0)"));
        let mut purse = Purse::default();
        while purse.left > 2 * cost(&many) {
            assert_eq!(purse.holds("many", &many, &Nothing), Ok(true));
        }
        while purse.left > 1 {
            assert_eq!(purse.holds("one", &one, &Nothing), Ok(true));
        }
        assert_eq!(purse.holds("one", &one, &Nothing), Ok(true), "the last step");
        let why = purse.holds("one", &one, &Nothing).unwrap_err();
        assert!(why.message.contains("`many` alone took"), "{why}");
        assert!(!why.unknown);
    }
}
