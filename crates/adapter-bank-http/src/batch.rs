//! Matches the results of a batch with its instructions.

use std::collections::{HashMap, VecDeque};

use crate::broken_rule::broken_rule;
use kopeck_bank_protocol::{InstructionResult, QueryOutcome, SubmitOutcome};
use kopeck_domain::Kopecks;
use kopeck_port_bank::{BankError, BankKey, Submission, Verdict};

/// The result for each submission, in their order.
///
/// A bank may reorder results, and omit some: a missing result is unknown. If a key was sent several times, its
/// results count in their order, and only if each instruction has one: otherwise it is unknown which is missing.
pub(crate) fn match_results(
    submissions: &[Submission],
    results: Vec<InstructionResult<SubmitOutcome>>,
) -> Vec<Result<Verdict, BankError>> {
    let mut sent: HashMap<&str, usize> = HashMap::new();
    for submission in submissions {
        *sent.entry(submission.key.as_str()).or_default() += 1;
    }
    let mut said: HashMap<String, VecDeque<SubmitOutcome>> = HashMap::new();
    for InstructionResult { key, outcome } in results {
        said.entry(key).or_default().push_back(outcome);
    }
    said.retain(|key, outcomes| sent.get(key.as_str()) == Some(&outcomes.len()));
    let answer = |submission: &Submission| match said
        .get_mut(submission.key.as_str())
        .and_then(VecDeque::pop_front)
    {
        Some(outcome) => verdict(submission.key.as_str(), outcome),
        None => Err(broken_rule(33, submission.key.as_str(), "the bank did not answer for the instruction")),
    };
    submissions.iter().map(answer).collect()
}

fn verdict(key: &str, outcome: SubmitOutcome) -> Result<Verdict, BankError> {
    match outcome {
        SubmitOutcome::Done { returned } => done(key, returned),
        SubmitOutcome::Declined { reason } => Ok(Verdict::Declined(reason.into())),
        SubmitOutcome::NotAccepted => {
            Err(BankError::Unavailable("the bank did not accept the instruction".to_owned()))
        }
        SubmitOutcome::Pending => Ok(Verdict::Pending),
    }
}

/// The verdict on an executed instruction. With a negative amount the outcome is unknown.
fn done(key: &str, returned: Option<Kopecks>) -> Result<Verdict, BankError> {
    match returned {
        None => Ok(Verdict::Done),
        Some(amount) if amount.is_negative() => {
            Err(broken_rule(50, key, "the bank returned a negative amount"))
        }
        Some(amount) => Ok(Verdict::Returned(amount)),
    }
}

/// The verdict on each key, in their order. A missing result fails the whole query, because no key may wrongly look
/// unseen.
pub(crate) fn verdicts(
    keys: &[BankKey],
    results: Vec<InstructionResult<QueryOutcome>>,
) -> Result<Vec<Option<Verdict>>, BankError> {
    let mut said: HashMap<String, QueryOutcome> = HashMap::new();
    for InstructionResult { key, outcome } in results {
        if said.get(&key).is_some_and(|before| *before != outcome) {
            return Err(broken_rule(18, &key, "the bank said two things of one key"));
        }
        said.insert(key, outcome);
    }
    let verdict = |key: &BankKey| match said.get(key.as_str()) {
        Some(QueryOutcome::Done { returned }) => done(key.as_str(), *returned).map(Some),
        Some(QueryOutcome::Declined { reason }) => Ok(Some(Verdict::Declined((*reason).into()))),
        Some(QueryOutcome::NotSeen) => Ok(None),
        Some(QueryOutcome::Pending) => Ok(Some(Verdict::Pending)),
        None => Err(broken_rule(18, key.as_str(), "the bank did not answer for every key")),
    };
    keys.iter().map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_domain::card_number::CardNumber;
    use kopeck_port_bank::Instruction;

    const DONE: SubmitOutcome = SubmitOutcome::Done { returned: None };

    fn submissions(keys: &[&str]) -> Vec<Submission> {
        let card = CardNumber::parse("1000000007").unwrap();
        let top_up = |key: &&str| Submission {
            key: BankKey::new(*key).unwrap(),
            instruction: Instruction::TopUp { card, amount: Kopecks::new(1) },
        };
        keys.iter().map(top_up).collect()
    }

    fn said<O: Copy>(results: &[(&str, O)]) -> Vec<InstructionResult<O>> {
        let answer =
            |(key, outcome): &(&str, O)| InstructionResult { key: (*key).to_owned(), outcome: *outcome };
        results.iter().map(answer).collect()
    }

    /// `+` done, `.` pending, `!` not accepted, `?` unknown.
    fn told(keys: &[&str], results: &[(&str, SubmitOutcome)]) -> String {
        let letter = |answer: Result<Verdict, BankError>| match answer {
            Ok(Verdict::Pending) => '.',
            Ok(_) => '+',
            Err(BankError::Unavailable(_)) => '!',
            Err(BankError::Unknown(_)) => '?',
        };
        match_results(&submissions(keys), said(results)).into_iter().map(letter).collect()
    }

    #[test]
    fn responses_are_matched_to_instructions() {
        use SubmitOutcome::{NotAccepted, Pending};
        let all = [("a", DONE), ("b", NotAccepted), ("c", Pending)];
        assert_eq!(told(&["a", "b", "c"], &all), "+!.");
        assert_eq!(told(&["c", "a", "b"], &all), ".+!");
        assert_eq!(told(&["a", "b", "c", "d"], &all), "+!.?", "one has no answer");
        assert_eq!(told(&["b"], &all), "!", "there is no result for the rest");
        assert_eq!(told(&["a", "b"], &[]), "??");
    }

    #[test]
    fn a_key_that_was_sent_twice_needs_two_answers() {
        use SubmitOutcome::NotAccepted;
        assert_eq!(told(&["a", "b", "a"], &[("a", DONE), ("b", DONE), ("a", NotAccepted)]), "++!");
        // Taken for the first, this would send it again, though it may have been done.
        assert_eq!(told(&["a", "b", "a"], &[("b", DONE), ("a", NotAccepted)]), "?+?");
        assert_eq!(told(&["a"], &[("a", DONE), ("a", NotAccepted)]), "?");
    }

    #[test]
    fn a_key_looks_unseen_only_if_the_bank_says_so() {
        use QueryOutcome::{NotSeen, Pending};
        const DONE: QueryOutcome = QueryOutcome::Done { returned: None };
        let keys = ["a", "b"].map(|key| BankKey::new(key).unwrap());
        let ask = |results: &[(&str, QueryOutcome)]| verdicts(&keys, said(results));
        assert_eq!(ask(&[("b", DONE), ("a", NotSeen)]), Ok(vec![None, Some(Verdict::Done)]));
        assert_eq!(ask(&[("a", DONE), ("b", DONE), ("a", DONE)]), Ok(vec![Some(Verdict::Done); 2]));
        assert_eq!(
            ask(&[("a", Pending), ("b", DONE)]),
            Ok(vec![Some(Verdict::Pending), Some(Verdict::Done)])
        );
        for results in [vec![("a", DONE)], vec![("a", DONE), ("b", DONE), ("a", NotSeen)]] {
            assert!(matches!(ask(&results), Err(BankError::Unknown(_))), "{results:?}");
        }
    }

    #[test]
    fn a_negative_return_leaves_the_outcome_unknown() {
        let answer = |amount| {
            let returned = Some(Kopecks::new(amount));
            let submitted =
                match_results(&submissions(&["a"]), said(&[("a", SubmitOutcome::Done { returned })]));
            let keys = [BankKey::new("a").unwrap()];
            let queried = verdicts(&keys, said(&[("a", QueryOutcome::Done { returned })]));
            (submitted, queried)
        };
        for amount in [0, 700] {
            let verdict = Verdict::Returned(Kopecks::new(amount));
            assert_eq!(answer(amount), (vec![Ok(verdict)], Ok(vec![Some(verdict)])));
        }
        let (submitted, queried) = answer(-1);
        assert!(matches!(submitted[..], [Err(BankError::Unknown(_))]), "{submitted:?}");
        assert!(matches!(queried, Err(BankError::Unknown(_))), "{queried:?}");
    }
}
