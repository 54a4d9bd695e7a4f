use proptest::prelude::*;

use super::*;
use crate::parse;

fn table(text: &str) -> Table {
    parse(text.as_bytes(), 10).unwrap()
}

/// The fault of the first row's amount.
fn amount_fault(text: &str) -> (&'static str, FaultCode) {
    let table = table(text);
    let fault = table.amount(&table.rows[0]).unwrap_err();
    (fault.field, fault.code)
}

#[test]
fn an_amount_is_in_kopecks_or_in_roubles_by_its_column() {
    for (text, expected) in [
        ("customId;amount\na;150000", Some(150_000)),
        ("customId;Сумма\na;1500", Some(150_000)),
        ("customId;rubles\na;1 500,5", Some(150_050)),
        ("customId;rubles\na;0.01", Some(1)),
        ("customId;rubles\na;\u{a0}12\u{202f}345\u{2009}678.90", Some(1_234_567_890)),
        ("customId;amount\na;", None),
        ("customId\na", None),
        ("customId;amount;сумма\na;;5", Some(500)),
    ] {
        let table = table(text);
        assert_eq!(table.amount(&table.rows[0]), Ok(expected.map(Kopecks::new)), "{text}");
    }
}

#[test]
fn what_is_no_amount_is_a_fault_of_the_amount() {
    for amount in ["0", "-1", "+1", "1.5", "1,5", "1 000", "1e3", "x", "9223372036854775808", "٣", "1.0"] {
        assert_eq!(
            amount_fault(&format!("customId;amount\na;{amount}")),
            ("amount", FaultCode::Invalid),
            "{amount}"
        );
    }
    for amount in [
        "0",
        "0,00",
        "-1",
        "+1",
        "1.234",
        "1,",
        ".5",
        "1.5.0",
        "1 00",
        "1000 000",
        "1'000",
        "1.000,00",
        "1e3",
        "100 ₽",
        "92233720368547758.08",
        "1 000 ,5x",
        "1..5",
        " ",
        "1,-5",
    ] {
        if amount.trim().is_empty() {
            continue;
        }
        let text = format!("customId;сумма\na;\"{amount}\"");
        assert_eq!(amount_fault(&text), ("amount", FaultCode::Invalid), "{amount}");
    }
    assert_eq!(amount_fault("customId;amount;сумма\na;500;5"), ("amount", FaultCode::Ambiguous));
    assert_eq!(amount_fault("customId;rubles;сумма\na;5;5"), ("amount", FaultCode::Ambiguous));
}

#[test]
fn a_row_names_one_person_once() {
    let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let uuid = Uuid::try_parse(id).unwrap();
    let text = format!(
        "табельный номер,idEmployee,idCard,номер карты\nТ-1,,,\n,{id},,\n,,{id},\n,,,4006381333931\n\
         ,,,4006381333930\n,x,,\nТ 1,,,\nТ-1,{id},,\n"
    );
    let table = table(&text);
    let named: Vec<_> = table.rows.iter().map(|row| table.person(row)).collect();
    assert_eq!(named[0], Ok(CardRef::CustomId(CustomId::parse("Т-1").unwrap())));
    assert_eq!(named[1], Ok(CardRef::Employee(uuid.into())));
    assert_eq!(named[2], Ok(CardRef::Id(uuid.into())));
    assert_eq!(named[3], Ok(CardRef::Number(CardNumber::parse("4006381333931").unwrap())));
    let faults: Vec<_> = named[4..].iter().map(|fault| fault.clone().unwrap_err()).collect();
    let faults: Vec<_> = faults.iter().map(|fault| (fault.field, fault.code)).collect();
    let expected = [
        ("customIdCard", FaultCode::Invalid),
        ("idEmployee", FaultCode::Invalid),
        ("customId", FaultCode::Invalid),
        ("idEmployee", FaultCode::Ambiguous),
    ];
    assert_eq!(faults, expected);
    let nobody = super::tests::table("customId;amount\n;5");
    let fault = nobody.person(&nobody.rows[0]).unwrap_err();
    assert_eq!((fault.field, fault.code), ("customId", FaultCode::Missing));
}

#[test]
fn a_blank_is_something_else_than_no_column() {
    let table = table("customId;phone\na;\n");
    let row = &table.rows[0];
    assert_eq!(table.value(row, Column::Phone), Ok(Value::Blank));
    assert_eq!(table.value(row, Column::Email), Ok(Value::Absent));
    assert_eq!(table.value(row, Column::CustomId), Ok(Value::Text("a")));
}

proptest! {
    /// However a person groups it.
    #[test]
    fn roubles_are_read_as_they_are_written(kopecks in 1..i64::MAX, comma: bool, blank in "[ \u{a0}\u{202f}]?") {
        let (whole, rest) = ((kopecks / 100).to_string(), kopecks % 100);
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place) % 3 == 0 {
                grouped.push_str(&blank);
            }
            grouped.push(digit);
        }
        let text = format!("{grouped}{}{rest:02}", if comma { ',' } else { '.' });
        prop_assert_eq!(roubles(&text), Ok(Kopecks::new(kopecks)));
        if rest == 0 {
            prop_assert_eq!(roubles(&grouped), Ok(Kopecks::new(kopecks)));
        }
    }

    #[test]
    fn any_text_is_an_amount_or_a_fault(text: String) {
        let _ = (kopecks(&text), roubles(&text));
    }
}
