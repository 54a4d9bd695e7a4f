use super::*;
use kopeck_domain::limit::Limit;

fn read(json: &str) -> Result<Submission, String> {
    let dto: InstructionDto = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Submission::try_from(dto).map_err(|malformed| malformed.to_string())
}

fn survives(instruction: Instruction) {
    let submission = Submission { key: BankKey::new("order/1").unwrap(), instruction };
    let json = serde_json::to_string(&InstructionDto::from(&submission)).unwrap();
    assert_eq!(read(&json), Ok(submission), "{json}");
}

fn card() -> CardNumber {
    CardNumber::parse("4006381333931").unwrap()
}

#[test]
fn every_instruction_survives_the_wire() {
    let delivery = Delivery {
        address: "ул. Ленина, 1".into(),
        recipient: "Ёж \"И\"".into(),
        phone: "9031234567".into(),
    };
    let plastic =
        OrderedCards { kind: CardType::Mp4, count: 2, first_top_up: None, delivery: Some(delivery) };
    let first_top_up = Some(Kopecks::new(500_000));
    let virtual_card = OrderedCards { kind: CardType::Mlz, count: u32::MAX, first_top_up, delivery: None };
    survives(Instruction::IssueCards(vec![plastic, virtual_card]));
    survives(Instruction::TopUp { card: card(), amount: Kopecks::new(i64::MAX) });
    survives(Instruction::SetLimit { card: card(), limit: Limit::Unlimited });
    for blocked in [true, false] {
        survives(Instruction::SetBlock { card: card(), blocked, change: 3 });
    }
    survives(Instruction::CloseCard { card: card() });
    for amount in [None, Some(Kopecks::new(1))] {
        survives(Instruction::Withdraw { card: card(), amount });
    }
    for limit in [
        r#"{"unlimited":false,"amount":1,"period":"CQUARTET"}"#,
        r#"{"unlimited":false,"days":[1,7],"times":[{"from":"22:00","to":"06:00"},{"from":"09:00","to":"12:00"}]}"#,
        r#"{"unlimited":false,"merchantCategories":{"only":["5812","5411-5499"]}}"#,
        r#"{"unlimited":false,"days":[1],"merchantCategories":{"except":["5812","5812"]}}"#,
        r#"{"unlimited":false,"amount":5,"period":"CDAY","days":[3],"times":[{"from":"00:00","to":"24:00"}]}"#,
    ] {
        let dto: LimitDto = serde_json::from_str(limit).unwrap();
        assert_eq!(serde_json::to_string(&dto).unwrap(), limit);
        survives(Instruction::SetLimit { card: card(), limit: Limit::try_from(&dto).unwrap() });
    }
}

#[test]
fn values_outside_of_the_port_are_refused() {
    for (json, why) in [
        (r#"{"type":"TOP_UP","key":"k","card":"4006381333931","amount":0}"#, "amount: must be above zero"),
        (r#"{"type":"TOP_UP","key":"k","card":"4006381333932","amount":1}"#, "check digit"),
        (r#"{"type":"TOP_UP","key":"k","card":4006381333931,"amount":1}"#, "string"),
        (r#"{"type":"TOP_UP","key":"","card":"4006381333931","amount":1}"#, "key: "),
        (r#"{"type":"TOP_UP","key":"a b","card":"4006381333931","amount":1}"#, "key: "),
        (r#"{"type":"TOP_UP","key":"ключ","card":"4006381333931","amount":1}"#, "key: "),
        (r#"{"type":"TOP_UP","key":"k","card":"4006381333931","amount":1,"x":1}"#, "unknown field"),
        (r#"{"type":"WITHDRAW","key":"k","card":"4006381333931","amount":0}"#, "amount: must be above zero"),
        (r#"{"type":"CLOSE_CARD","key":"k","card":"4006381333931","amount":1}"#, "unknown field"),
        (r#"{"type":"PAY","key":"k"}"#, "unknown variant"),
        (r#"{"type":"ISSUE_CARDS","key":"k","lines":[]}"#, "lines: must not be empty"),
        (r#"{"type":"ISSUE_CARDS","key":"k","lines":[{"type":"MP4","count":0}]}"#, "count: "),
        (
            r#"{"type":"ISSUE_CARDS","key":"k","lines":[{"type":"MLZ","count":1,"firstTopUp":-1}]}"#,
            "firstTopUp: ",
        ),
        (r#"{"type":"SET_LIMIT","key":"k","card":"4006381333931","limit":{"unlimited":false}}"#, "limit: "),
        (
            r#"{"type":"SET_LIMIT","key":"k","card":"4006381333931","limit":{"unlimited":true,"days":[1]}}"#,
            "limit: ",
        ),
    ] {
        let refused = read(json).unwrap_err();
        assert!(refused.contains(why), "{json}: {refused}");
    }
}

#[test]
fn keys_have_up_to_a_hundred_visible_characters() {
    for good in ["k", "replenishment/0-1/2", "!~", &"k".repeat(100)] {
        assert_eq!(check_key(good).unwrap().as_str(), good);
    }
    for bad in ["", " ", "a\n", "é", &"k".repeat(101)] {
        assert!(check_key(bad).is_err(), "{bad:?}");
    }
}
