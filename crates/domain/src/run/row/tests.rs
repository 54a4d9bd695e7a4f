use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::card::CardType;

fn cells(values: &[(&str, &str)]) -> Vec<Cell> {
    let value = |text: &str| match text {
        "" => CellValue::Blank,
        "=" => CellValue::Formula,
        text => CellValue::Text(text.to_owned()),
    };
    values.iter().map(|(name, text)| Cell { name: (*name).to_owned(), value: value(text) }).collect()
}

fn meaning(kind: RunKind, values: &[(&str, &str)]) -> Result<Meaning, (String, FaultCode)> {
    Cells::new(&cells(values)).meaning(kind).map_err(|fault| (fault.field, fault.code))
}

fn fault(field: &str, code: FaultCode) -> Result<Meaning, (String, FaultCode)> {
    Err((field.to_owned(), code))
}

#[test]
fn a_top_up_has_one_person_and_an_amount_in_either_unit() {
    let person = CardRef::CustomId(CustomId::parse("T-1").unwrap());
    let expected = Ok(Meaning::TopUp(person, Kopecks::new(150_000)));
    for values in [
        [("customId", "T-1"), ("amount", "150000")],
        [("Табельный Номер", "T-1"), ("СУММА", "1 500,00")],
        [(" CUSTOMID ", "T-1"), ("rubles", "1\u{a0}500.0")],
        [("Табельный  номер", "T-1"), ("rubles", "1500")],
    ] {
        assert_eq!(meaning(RunKind::TopUp, &values), expected, "{values:?}");
    }
    let id = Uuid::from_u128(7).to_string();
    for (name, text, person) in [
        ("idEmployee", id.as_str(), CardRef::Employee(Uuid::from_u128(7).into())),
        ("idCard", &id, CardRef::Id(Uuid::from_u128(7).into())),
        ("номер карты", "4006381333931", CardRef::Number(CardNumber::parse("4006381333931").unwrap())),
    ] {
        let read = meaning(RunKind::TopUp, &[(name, text), ("amount", "5"), ("customId", "")]);
        assert_eq!(read, Ok(Meaning::TopUp(person, Kopecks::new(5))));
    }
}

#[test]
fn a_faulty_item_names_its_own_column() {
    use FaultCode::{Ambiguous, Formula, Invalid, Missing};
    let id = Uuid::from_u128(7).to_string();
    for (values, expected) in [
        (vec![("amount", "5")], fault("customId", Missing)),
        (vec![("табельный номер", "T-1"), ("idCard", &id), ("amount", "5")], fault("idCard", Ambiguous)),
        (vec![("idCard", "7"), ("amount", "5")], fault("idCard", Invalid)),
        (vec![("табельный номер", "T 1"), ("amount", "5")], fault("табельный номер", Invalid)),
        (vec![("customId", "=")], fault("customId", Formula)),
        (vec![("customId", "T-1")], fault("amount", Missing)),
        (vec![("customId", "T-1"), ("сумма", "")], fault("amount", Missing)),
        (vec![("customId", "T-1"), ("сумма", "=")], fault("amount", Formula)),
        (vec![("customId", "T-1"), ("сумма", "1"), ("amount", "100")], fault("amount", Ambiguous)),
        (vec![("customId", "T-1"), ("amount", "1.00")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("amount", "0")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("amount", "100000001")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("сумма", "1,001")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("сумма", "1.500,00")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("сумма", "1 50,00")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("сумма", "1,")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("сумма", ",5")], fault("amount", Invalid)),
        (vec![("customId", "T-1"), ("CustomID", "T-2"), ("amount", "1")], fault("CustomID", Ambiguous)),
    ] {
        assert_eq!(meaning(RunKind::TopUp, &values), expected, "{values:?}");
    }
}

/// A file may have two columns of one meaning: the row fills one of them.
#[test]
fn of_two_columns_that_mean_the_same_one_is_filled() {
    let person = CardRef::CustomId(CustomId::parse("T-1").unwrap());
    let values = [
        ("customId", ""),
        ("табельный номер", "T-1"),
        ("idCard", ""),
        ("сумма", ""),
        ("rubles", "5"),
        ("amount", ""),
    ];
    assert_eq!(meaning(RunKind::TopUp, &values), Ok(Meaning::TopUp(person, Kopecks::new(500))));
}

#[test]
fn a_withdrawal_without_an_amount_takes_all() {
    let person = CardRef::CustomId(CustomId::parse("T-1").unwrap());
    for values in [vec![("customId", "T-1")], vec![("customId", "T-1"), ("сумма", "")]] {
        assert_eq!(meaning(RunKind::Withdraw, &values), Ok(Meaning::Withdraw(person.clone(), None)));
    }
}

#[test]
fn an_order_names_no_person() {
    let values = [("typeCard", "MLZ"), ("numberCards", "2"), ("amount", "5000")];
    let details = LineDetails::Virtual { amount: Kopecks::new(5_000) };
    let line = OrderLine { card_type: CardType::Mlz, count: 2, details };
    assert_eq!(meaning(RunKind::VirtualOrder, &values), Ok(Meaning::Order(line)));
    let wrong = |place: usize, text| {
        let mut values = values;
        values[place].1 = text;
        meaning(RunKind::VirtualOrder, &values)
    };
    assert_eq!(wrong(0, "MP4"), fault("typeCard", FaultCode::Invalid));
    assert_eq!(wrong(1, "5001"), fault("numberCards", FaultCode::Invalid));
    assert_eq!(wrong(2, "4999"), fault("amount", FaultCode::Invalid));
    assert_eq!(wrong(1, ""), fault("numberCards", FaultCode::Missing));
}

#[test]
fn an_empty_cell_of_an_employee_clears_and_a_missing_one_keeps() {
    let read = |values: &[(&str, &str)]| meaning(RunKind::Employees, values);
    let Ok(Meaning::Employee(custom_id, row)) =
        read(&[("customId", "T-1"), ("фамилия", "Иванов"), ("телефон", ""), ("категория", "Водители")])
    else {
        panic!("an employee");
    };
    assert_eq!(custom_id.as_str(), "T-1");
    let category = CategoryRef::Name(CategoryName::parse("Водители").unwrap());
    let expected = EmployeeRow {
        surname: Change::Set(PersonName::parse("Иванов").unwrap()),
        phone: Change::Clear,
        category: Change::Set(category),
        ..EmployeeRow::default()
    };
    assert_eq!(*row, expected);
    let id = Uuid::from_u128(7).to_string();
    for (values, expected) in [
        (vec![("surname", "A")], fault("customId", FaultCode::Missing)),
        (vec![("customId", "")], fault("customId", FaultCode::Missing)),
        (vec![("customId", "T-1"), ("статус", "")], fault("статус", FaultCode::Missing)),
        (vec![("customId", "T-1"), ("phone", "1")], fault("phone", FaultCode::Invalid)),
        (
            vec![("customId", "T-1"), ("category", "A"), ("idCategory", &id)],
            fault("idCategory", FaultCode::Ambiguous),
        ),
    ] {
        assert_eq!(read(&values), expected, "{values:?}");
    }
}

#[test]
fn cells_show_no_values() {
    let shown = format!("{:?}", cells(&[("surname", "Секретов")]));
    assert!(shown.contains("surname") && !shown.contains("Секретов"));
}

proptest! {
    #[test]
    fn roubles_are_kopecks_to_the_kopeck(kopecks in 1_i64..=100_000_000, blank in prop::sample::select(vec!["", " ", "\u{a0}", "\u{202f}"]), point in prop::sample::select(vec![".", ","])) {
        let (whole, rest) = (kopecks / 100, kopecks % 100);
        let digits = whole.to_string();
        let (head, tail) = digits.split_at(digits.len() % 3);
        let mut groups: Vec<&str> = if head.is_empty() { vec![] } else { vec![head] };
        groups.extend((0..tail.len()).step_by(3).map(|at| &tail[at..at + 3]));
        let text = format!("{}{point}{rest:02}", groups.join(blank));
        prop_assert_eq!(roubles(&text).unwrap(), kopecks);
    }

    #[test]
    fn no_text_panics(name in "\\PC{0,20}", text in "\\PC{0,40}") {
        for kind in RunKind::ALL {
            let _ = meaning(*kind, &[(name.as_str(), text.as_str()), ("amount", text.as_str()), ("customId", text.as_str())]);
        }
    }
}
