//! The texts of files for people: one table, each text in both languages.

use kopeck_domain::ledger::{EntrySource, EntryType};
use kopeck_domain::string_enum;

string_enum! {
    /// A language of files for people.
    #[derive(Default)]
    Language {
        /// English.
        #[default]
        English = "en",
        /// Russian.
        Russian = "ru",
    }
}

impl Language {
    /// The language that an `Accept-Language` prefers by its weights; English if it names none of ours.
    #[must_use]
    pub fn preferred(ranges: &str) -> Self {
        let mut best: Option<(u16, Self)> = None;
        for range in ranges.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let tag = parts.next().unwrap_or_default();
            let primary = tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            let weight = weight.map_or(Some(1_000), thousandths).unwrap_or(0);
            if let Ok(language) = primary.parse::<Self>()
                && weight > best.map_or(0, |(best, _)| best)
            {
                best = Some((weight, language));
            }
        }
        best.map_or(Self::English, |(_, language)| language)
    }

    /// An amount of kopecks as roubles with two decimals, by the decimal separator of this language.
    #[must_use]
    pub fn roubles(self, kopecks: i64) -> String {
        let separator = match self {
            Self::English => '.',
            Self::Russian => ',',
        };
        let sign = if kopecks < 0 { "-" } else { "" };
        let kopecks = kopecks.unsigned_abs();
        format!("{sign}{}{separator}{:02}", kopecks / 100, kopecks % 100)
    }
}

/// A weight such as `0.8`, from 0 to 1, in thousandths.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals: u16 = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(decimals),
        "1" => (decimals == 0).then_some(1_000),
        _ => None,
    }
}

/// Declares the texts.
macro_rules! texts {
    ($($name:ident: $english:literal, $russian:literal;)*) => {
        /// A text of a file for people.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Text {
            $($name,)*
        }

        impl Text {
            /// All of them.
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The text in a language.
            pub(crate) const fn of(self, language: Language) -> &'static str {
                match (self, language) {
                    $((Self::$name, Language::English) => $english,
                    (Self::$name, Language::Russian) => $russian,)*
                }
            }
        }
    };
}

texts! {
    // Sheets.
    Entries: "Entries", "Операции";
    Totals: "Totals", "Итоги";
    // Heads of sheets.
    Month: "Month", "Месяц";
    Currency: "Currency", "Валюта";
    Roubles: "Russian roubles", "Российские рубли";
    Complete: "Complete", "Месяц завершён";
    Yes: "yes", "да";
    NotOver: "no: the month is not over", "нет: месяц ещё не закончился";
    // Columns of the statement.
    Number: "No.", "№";
    At: "Date and time", "Дата и время";
    Type: "Type", "Тип";
    Amount: "Change of available", "Изменение доступного";
    Balance: "Balance", "Баланс";
    Hold: "Hold", "Удержано";
    Kind: "Request", "Заявка";
    Id: "Identifier", "Идентификатор";
    Reference: "Reference", "Ваш номер";
    Available: "Available", "Доступно";
    BalanceChange: "Change of balance", "Изменение баланса";
    HoldChange: "Change of hold", "Изменение удержаний";
    // Totals of the statement.
    Opening: "Opening balance", "Остаток на начало";
    Closing: "Closing balance", "Остаток на конец";
    Count: "Number", "Количество";
    Date: "Date", "Дата";
    OpeningHold: "Opening hold", "Удержано на начало";
    OpeningAvailable: "Opening available", "Доступно на начало";
    ClosingHold: "Closing hold", "Удержано на конец";
    ClosingAvailable: "Closing available", "Доступно на конец";
    // Columns of the report.
    Report: "Employees", "Сотрудники";
    Employee: "Employee", "Сотрудник";
    CustomId: "Personnel No.", "Табельный номер";
    Surname: "Surname", "Фамилия";
    Name: "First name", "Имя";
    Patronymic: "Patronymic", "Отчество";
    Category: "Category", "Категория";
    CardsOpening: "At the start", "На начало";
    Given: "Given", "Начислено";
    Spent: "Spent", "Потрачено";
    Refunded: "Refunded", "Возвращено магазинами";
    Returned: "Taken back", "Возвращено на баланс";
    Corrected: "Corrected by the bank", "Исправлено банком";
    Late: "Late, of closed months", "Поздние, за закрытые месяцы";
    CardsClosing: "At the end", "На конец";
    Payments: "Payments", "Число покупок";
    Total: "Total", "Итого";
    Nobody: "Cards without a holder", "Карты без держателя";
    // Types of entries.
    Deposit: "Deposit", "Пополнение";
    TypeHold: "Hold", "Удержание";
    Debit: "Debit", "Списание";
    Release: "Release", "Снятие удержания";
    Return: "Return from cards", "Возврат с карт";
    Withdrawal: "Payment to you", "Вывод средств";
    Correction: "Correction", "Исправление";
    // Kinds of requests.
    OfOrder: "Order of cards", "Заказ карт";
    OfReplenishment: "Top-up", "Пополнение карт";
    OfClosing: "Closing of cards", "Закрытие карт";
    OfWithdrawal: "Withdrawal from cards", "Возврат с карт";
    OfDeposit: "Deposit", "Пополнение баланса";
    OfPartnerWithdrawal: "Payment to you", "Вывод средств";
    OfCorrection: "Reversal of a deposit", "Отмена пополнения";
}

/// The text of a type of entry.
pub(crate) const fn entry_type(entry_type: EntryType) -> Text {
    match entry_type {
        EntryType::Deposit => Text::Deposit,
        EntryType::Hold => Text::TypeHold,
        EntryType::Debit => Text::Debit,
        EntryType::Release => Text::Release,
        EntryType::Return => Text::Return,
        EntryType::Withdrawal => Text::Withdrawal,
        EntryType::Correction => Text::Correction,
    }
}

/// The text of the object that an entry belongs to.
pub(crate) const fn entry_source(source: EntrySource) -> Text {
    match source {
        EntrySource::Order => Text::OfOrder,
        EntrySource::Replenishment => Text::OfReplenishment,
        EntrySource::Closing => Text::OfClosing,
        EntrySource::Withdrawal => Text::OfWithdrawal,
        EntrySource::Deposit => Text::OfDeposit,
        EntrySource::PartnerWithdrawal => Text::OfPartnerWithdrawal,
        EntrySource::Correction => Text::OfCorrection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_in_both_languages() {
        let is_cyrillic =
            |text: &str| text.chars().any(|letter| ('а'..='я').contains(&letter) || letter == 'ё');
        for text in Text::ALL {
            let (english, russian) = (text.of(Language::English), text.of(Language::Russian));
            assert!(!english.trim().is_empty() && english.is_ascii(), "{text:?}: {english}");
            assert!(is_cyrillic(russian) || russian == "№", "{text:?}: {russian}");
        }
    }

    #[test]
    fn the_greatest_weight_decides_on_the_language() {
        for (ranges, language) in [
            ("", Language::English),
            ("*", Language::English),
            ("ru", Language::Russian),
            ("ru-RU,ru;q=0.9,en-US;q=0.8", Language::Russian),
            ("en;q=0.8, RU-ru;q=0.9", Language::Russian),
            ("ru;q=0.8,en", Language::English),
            ("en;q=0.5,ru;q=0.5", Language::English),
            ("ru;q=0.5,en;q=0.5", Language::Russian),
            ("ru;q=0,de", Language::English),
            ("ru;q=0.000, en;q=0.001", Language::English),
            ("de,fr;q=0.9,ru;q=0.1", Language::Russian),
            ("ru;q=2,en;q=0.1", Language::English),
            ("ru;q=1.000;x=1", Language::Russian),
            ("russian", Language::English),
        ] {
            assert_eq!(Language::preferred(ranges), language, "{ranges}");
        }
    }

    #[test]
    fn amounts_are_roubles_with_two_decimals() {
        for (kopecks, english, russian) in [
            (0, "0.00", "0,00"),
            (5, "0.05", "0,05"),
            (-5, "-0.05", "-0,05"),
            (-123_456, "-1234.56", "-1234,56"),
            (i64::MIN, "-92233720368547758.08", "-92233720368547758,08"),
        ] {
            assert_eq!(Language::English.roubles(kopecks), english);
            assert_eq!(Language::Russian.roubles(kopecks), russian);
        }
    }
}
