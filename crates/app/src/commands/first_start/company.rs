//! The people of the demo partner, and what they buy.

use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_domain::employee::NewEmployee;
use kopeck_domain::ids::CategoryId;
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};

/// How many people the partner has.
pub(super) const PEOPLE: usize = 40;
/// How many of them have had their card for so long that it expires soon.
pub(super) const LONG_THERE: usize = 2;
/// Who has left, with money on the card.
pub(super) const LEAVER: usize = 37;
/// Who is on vacation.
pub(super) const ON_VACATION: usize = 11;
/// Their categories.
pub(super) const CATEGORIES: [&str; 3] = ["Пекарня", "Магазины", "Офис"];

const SURNAMES: [&str; PEOPLE / 2] = [
    "Андреев",
    "Борисов",
    "Власов",
    "Громов",
    "Данилов",
    "Ершов",
    "Жуков",
    "Зимин",
    "Ильин",
    "Карпов",
    "Лавров",
    "Морозов",
    "Никитин",
    "Орлов",
    "Панов",
    "Рябов",
    "Соколов",
    "Тихонов",
    "Уваров",
    "Фомин",
];
const WOMEN: [&str; 8] = ["Анна", "Вера", "Дарья", "Елена", "Ирина", "Ксения", "Мария", "Ольга"];
const MEN: [&str; 8] = ["Антон", "Борис", "Виктор", "Денис", "Илья", "Максим", "Никита", "Павел"];

/// Places, each with merchant category, merchant and the least price in roubles.
const PLACES: [(&str, &str, &str, i64); 5] = [
    ("Столовая № 1", "5812", "DINER-1", 320),
    ("Кофейня «Зерно»", "5814", "COFFEE-7", 190),
    ("Гастроном на Лесной", "5411", "GROCER-3", 640),
    ("Пироговая", "5812", "PIES-2", 280),
    ("Фермерская лавка", "5499", "FARM-5", 450),
];
/// Where cards pay: shops of food, restaurants and cafés.
pub(super) const MERCHANTS: [&str; 3] = ["5411", "5499", "5812-5814"];

/// A purchase at a place.
pub(super) struct Bought {
    pub(super) place: &'static str,
    pub(super) mcc: &'static str,
    pub(super) merchant: &'static str,
    pub(super) amount: Kopecks,
}

/// Payments that the bank declines: days ago, hour, person, and what was to be bought. The first merchant is none of
/// [`MERCHANTS`]; the second payment is above what a card may spend in a day.
pub(super) const DECLINED: [(i64, u8, usize, Bought); 2] = [
    (
        2,
        13,
        5,
        Bought {
            place: "Кинотеатр", mcc: "7832", merchant: "CINEMA-2", amount: Kopecks::new(45_000)
        },
    ),
    (
        1,
        19,
        8,
        Bought {
            place: "Фермерская лавка", mcc: "5499", merchant: "FARM-5", amount: Kopecks::new(260_000)
        },
    ),
];

/// The person of this number, from 0, in one of these categories.
pub(super) fn person(number: usize, categories: &[CategoryId]) -> Result<(CustomId, NewEmployee), Invalid> {
    let (pair, base) = (number / 2, nth(&SURNAMES, number / 2));
    let (surname, name) = if number.is_multiple_of(2) {
        (format!("{base}а"), nth(&WOMEN, pair))
    } else {
        (base.to_owned(), nth(&MEN, pair))
    };
    let fields = NewEmployee {
        surname: Some(PersonName::parse(&surname)?),
        name: Some(PersonName::parse(name)?),
        phone: Some(Phone::parse(&format!("90000001{number:02}"))?),
        email: Some(Email::parse(&format!("e{:03}@demo.example", number + 1))?),
        category: categories.get(number % 7 / 3).copied(),
        ..NewEmployee::default()
    };
    Ok((CustomId::parse(&format!("E-{:03}", number + 1))?, fields))
}

/// The value of this number in a list that begins again at its end.
fn nth<T: Copy + Default>(list: &[T], number: usize) -> T {
    list.iter().cycle().nth(number).copied().unwrap_or_default()
}

/// What a person buys at the purchase of this number in a month.
pub(super) fn bought(person: usize, number: usize) -> Bought {
    let (place, mcc, merchant, least) = nth(&PLACES, person + 3 * number);
    let roubles = least + i64::try_from((person * 37 + number * 53) % 260).unwrap_or_default();
    let kopecks = i64::try_from((person * 7 + number) % 4 * 25).unwrap_or_default();
    Bought { place, mcc, merchant, amount: Kopecks::new(roubles * 100 + kopecks) }
}
