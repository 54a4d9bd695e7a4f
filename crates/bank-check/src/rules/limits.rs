//! Spending limits.

use kopeck_bank_protocol::{INSTRUCTIONS, LimitDto};
use kopeck_domain::Kopecks;
use kopeck_domain::limit::{Limit, Period};
use kopeck_port_bank::{Instruction, Verdict};
use serde_json::json as object;
use time::Weekday;

use super::form::is_refused;
use crate::session::{Answer, Broken, Checked, DONE, Session, hold, json, shown};

pub(super) fn sets_limits(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let amount = |period| Limit::per(period, Kopecks::new(50_000));
    let limits = [
        amount(Period::Day).build(),
        amount(Period::Week).build(),
        amount(Period::Month).build(),
        amount(Period::Quarter).build(),
        Limit::on([Weekday::Monday, Weekday::Sunday]).build(),
        Limit::on([]).within(["22:00-06:00", "09:00-12:00"]).build(),
        Limit::only_at(["5812", "5411-5499"]).build(),
        Limit::except_at(["5813"]).build(),
        amount(Period::Month).on([Weekday::Friday]).within(["09:00-18:00"]).only_at(["5812"]).build(),
        Ok(Limit::Unlimited),
    ];
    for limit in limits {
        let limit = limit.map_err(|_| Broken("no limit".to_owned()))?;
        let is_supported = session.capabilities.require_limit(&limit);
        let shown_limit = json(&LimitDto::from(&limit))?;
        let submission = session.submission(Instruction::SetLimit { card, limit });
        match is_supported {
            Ok(()) => {
                session.expect(&submission, DONE, &format!("the limit {shown_limit}"))?;
                session.expect(&submission, DONE, "the same limit again")?;
            }
            Err(lacks) => {
                let answer = session.one(&submission)?;
                hold!(
                    matches!(answer, Answer::Verdict(Verdict::Declined(_))),
                    "{lacks}, but the limit {shown_limit} is {}, expected DECLINED",
                    shown(answer)
                );
            }
        }
    }
    Ok(())
}

pub(super) fn refuses_invalid_limits(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?.to_string();
    for limit in [
        object!({"unlimited": true, "amount": 100, "period": "CDAY"}),
        object!({"unlimited": false, "amount": 100}),
        object!({"unlimited": false, "amount": 100, "period": "CYEAR"}),
        object!({"unlimited": false, "days": [8]}),
        object!({"unlimited": false, "times": [{"from": "25:00", "to": "26:00"}]}),
        object!({"unlimited": false, "merchantCategories": {"only": ["581"]}}),
        object!({"unlimited": false, "merchantCategories": {"only": []}}),
    ] {
        let key = session.key();
        let instruction = object!({"type": "SET_LIMIT", "key": key.as_str(), "card": card, "limit": limit});
        let body = object!({"instructions": [instruction]}).to_string();
        let reply = session.request(INSTRUCTIONS, &[], Some(&body)).map_err(Broken)?;
        is_refused(&reply, &format!("the limit {limit}"))?;
        hold!(session.query(&[key])? == [None], "a limit that was refused is known, expected NOT_SEEN");
    }
    Ok(())
}
