//! Orders of plastic and virtual cards.

mod state;

use thiserror::Error;
use time::{Date, OffsetDateTime};

pub use self::state::OrderState;
use crate::card::{Card, CardFields, CardType, PartnerBlock};
use crate::card_number::CardNumber;
use crate::fields::fields;
use crate::ids::{CardId, OrderId};
use crate::invalid::Invalid;
use crate::money::{AmountOverflow, Kopecks};
use crate::person::{DeliveryAddress, Phone, Recipient};
use crate::request::RequestReference;
use crate::string_enum::serde_enum;

/// The greatest number of items in one order.
pub const MAX_ITEMS: usize = 100;
/// The greatest number of cards in one order.
pub const MAX_CARDS: u32 = 100_000;
/// The greatest number of cards of a plastic item.
pub const MAX_PLASTIC_CARDS: u32 = 10_000;
/// The greatest number of cards of a virtual item.
pub const MAX_VIRTUAL_CARDS: u32 = 5_000;
/// The least first top-up of a virtual card, kopecks.
pub const MIN_FIRST_TOP_UP: i64 = 5_000;
/// The greatest first top-up of a virtual card, kopecks.
pub const MAX_FIRST_TOP_UP: i64 = 1_500_000;
/// The products of a plastic item.
pub const PLASTIC_TYPES: &[CardType] = &[CardType::Mp4, CardType::Kkl];
/// The products of a virtual item.
pub const VIRTUAL_TYPES: &[CardType] = &[CardType::Mlz];

serde_enum! {
    /// What is ordered.
    OrderKind {
        /// Cards that a courier brings.
        Plastic = "PLASTIC",
        /// Cards that exist as numbers.
        Virtual = "VIRTUAL",
    }
}

impl OrderKind {
    /// The products that can be ordered.
    #[must_use]
    pub const fn types(self) -> &'static [CardType] {
        match self {
            Self::Plastic => PLASTIC_TYPES,
            Self::Virtual => VIRTUAL_TYPES,
        }
    }
}

/// One item of an order: a plain record. [`Order::place`] checks it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OrderLine {
    /// The product.
    pub card_type: CardType,
    /// How many cards.
    pub count: u32,
    /// What only plastic or only virtual cards have.
    pub details: LineDetails,
}

impl OrderLine {
    fn check(&self, kind: OrderKind) -> Result<(), Invalid> {
        match (kind, &self.details) {
            (OrderKind::Plastic, LineDetails::Plastic { .. }) => plastic_count(self.count.into())?,
            (OrderKind::Virtual, LineDetails::Virtual { amount }) => {
                first_top_up(amount.get())?;
                virtual_count(self.count.into())?
            }
            (OrderKind::Plastic, LineDetails::Virtual { .. })
            | (OrderKind::Virtual, LineDetails::Plastic { .. }) => {
                return Err(Invalid::new("must not mix plastic and virtual cards"));
            }
        };
        one_of(self.card_type.as_str(), kind.types()).map(drop)
    }
}

/// What only plastic or only virtual cards have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum LineDetails {
    /// Where the cards go.
    Plastic {
        /// Postal address.
        address: DeliveryAddress,
        /// Who receives them.
        recipient: Recipient,
        /// The recipient's phone.
        phone: Phone,
    },
    /// The first top-up of each card.
    Virtual {
        /// Kopecks a card.
        amount: Kopecks,
    },
}

/// The number of cards of a plastic item, 1..=10,000.
///
/// # Errors
/// [`Invalid`] out of the range.
pub fn plastic_count(count: i64) -> Result<u32, Invalid> {
    count_up_to(count, MAX_PLASTIC_CARDS)
}

/// The number of cards of a virtual item, 1..=5,000.
///
/// # Errors
/// [`Invalid`] out of the range.
pub fn virtual_count(count: i64) -> Result<u32, Invalid> {
    count_up_to(count, MAX_VIRTUAL_CARDS)
}

/// The first top-up of a virtual card, 5,000..=1,500,000 kopecks.
///
/// # Errors
/// [`Invalid`] out of the range.
pub fn first_top_up(kopecks: i64) -> Result<Kopecks, Invalid> {
    if (MIN_FIRST_TOP_UP..=MAX_FIRST_TOP_UP).contains(&kopecks) {
        Ok(Kopecks::new(kopecks))
    } else {
        Err(Invalid::new(format!("must be from {MIN_FIRST_TOP_UP} to {MAX_FIRST_TOP_UP} kopecks")))
    }
}

/// The product of a plastic item: MP4 or KKL.
///
/// # Errors
/// [`Invalid`] for any other word.
pub fn plastic_type(word: &str) -> Result<CardType, Invalid> {
    one_of(word, PLASTIC_TYPES)
}

/// The product of a virtual item: MLZ.
///
/// # Errors
/// [`Invalid`] for any other word.
pub fn virtual_type(word: &str) -> Result<CardType, Invalid> {
    one_of(word, VIRTUAL_TYPES)
}

/// A card order. Only its verbs change it:
///
/// ```compile_fail,E0615
/// fn finish(mut order: kopeck_domain::order::Order) {
///     order.state = kopeck_domain::order::OrderState::Success;
/// }
/// ```
#[cfg_attr(
    not(feature = "stored"),
    doc = "\nIts fields make an order if they keep its rules. Only the feature `stored` passes them by:\n
```compile_fail,E0599
use kopeck_domain::order::{Order, OrderFields};

fn read(fields: OrderFields) -> Order {
    Order::from_stored(fields)
}
```"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "OrderFields"))]
pub struct Order(OrderFields);

/// The order that the fields describe.
impl TryFrom<OrderFields> for Order {
    type Error = Invalid;

    fn try_from(stored: OrderFields) -> Result<Self, Invalid> {
        let types = stored.kind.types();
        if !(1..=MAX_CARDS).contains(&stored.cards) {
            return Err(Invalid::new(format!("an order must have 1 to {MAX_CARDS} cards")));
        }
        if !types.contains(&stored.card_type) {
            return Err(Invalid::new(format!("the cards of the order must be {}", words(types))));
        }
        if stored.cost.is_negative() || stored.kind == OrderKind::Plastic && stored.cost.is_positive() {
            return Err(Invalid::new(
                "the cost must be zero of plastic cards, and not below it of virtual ones",
            ));
        }
        Ok(Self(stored))
    }
}

fields! {
    /// The fields of an order.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    OrderFields of Order {
        /// The service's identifier.
        id: OrderId,
        /// What is ordered.
        kind: OrderKind,
        /// The product of the first item.
        card_type: CardType,
        /// All cards of all items.
        cards: u32,
        /// What the order costs; zero for plastic.
        cost: Kopecks,
        /// Where it stands.
        state: OrderState,
        /// When it was accepted.
        #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
        created_at: OffsetDateTime,
        /// When it last changed its state.
        #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
        state_since: OffsetDateTime,
        /// What the partner calls it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        reference: Option<RequestReference> as Option<&RequestReference>,
    }
}

impl Order {
    /// A new order of `lines`, all plastic or all virtual as `kind` says.
    ///
    /// # Errors
    /// [`Invalid`] if there are no lines or more than [`MAX_ITEMS`], more than [`MAX_CARDS`] cards in all, or a line that an
    /// order of this kind cannot have.
    pub fn place(
        id: OrderId,
        kind: OrderKind,
        lines: &[OrderLine],
        now: OffsetDateTime,
    ) -> Result<Self, Invalid> {
        let items = || Invalid::new(format!("must have 1 to {MAX_ITEMS} items"));
        let first = lines.first().ok_or_else(items)?;
        if lines.len() > MAX_ITEMS {
            return Err(items());
        }
        lines.iter().try_for_each(|line| line.check(kind))?;
        let cards = lines.iter().try_fold(0_u32, |sum, line| sum.checked_add(line.count)).unwrap_or(u32::MAX);
        if cards > MAX_CARDS {
            return Err(Invalid::new(format!("must order at most {MAX_CARDS} cards in all")));
        }
        let cost = cost_of(lines).map_err(|overflow| Invalid::new(overflow.to_string()))?;
        Ok(Self(OrderFields {
            id,
            kind,
            card_type: first.card_type,
            cards,
            cost,
            state: OrderState::New,
            created_at: now,
            state_since: now,
            reference: None,
        }))
    }

    /// The same under the partner's own reference.
    #[must_use]
    pub fn with_reference(self, reference: Option<RequestReference>) -> Self {
        Self(OrderFields { reference, ..self.0 })
    }

    /// Whether money of the partner is held for it.
    #[must_use]
    pub fn holds_money(&self) -> bool {
        self.state().is_open() && self.cost().is_positive()
    }
}

/// What `lines` cost together: the first top-ups of the virtual cards. Plastic costs nothing.
///
/// # Errors
/// [`AmountOverflow`] if the sum does not fit.
pub fn cost_of(lines: &[OrderLine]) -> Result<Kopecks, AmountOverflow> {
    lines.iter().try_fold(Kopecks::ZERO, |sum, line| match &line.details {
        LineDetails::Virtual { amount } => sum.plus(amount.times(line.count)?),
        LineDetails::Plastic { .. } => Ok(sum),
    })
}

/// What a card has to be that the bank issues for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardSpec {
    /// The product.
    pub card_type: CardType,
    /// Virtual cards: the money it holds from the start.
    pub first_top_up: Option<Kopecks>,
}

/// How an issued card differs from what was ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum CardMismatch {
    /// Another product.
    #[error("the card is of another type")]
    Type,
    /// Ten digits on a plastic card, or an EAN-13 on a virtual one.
    #[error("the card number does not fit the card type")]
    Number,
    /// Another first top-up, one on a plastic card, or none on a virtual one.
    #[error("the card has another first top-up")]
    FirstTopUp,
}

impl CardSpec {
    /// The card of this `order` that the bank issued, if it is what was ordered. No employee holds it.
    ///
    /// # Errors
    /// The first [`CardMismatch`].
    pub fn issue(
        &self,
        order: OrderId,
        id: CardId,
        card_type: CardType,
        number: CardNumber,
        valid_until: Date,
        first_top_up: Option<Kopecks>,
    ) -> Result<Card, CardMismatch> {
        if card_type != self.card_type {
            return Err(CardMismatch::Type);
        }
        if number.is_plastic() != PLASTIC_TYPES.contains(&card_type) {
            return Err(CardMismatch::Number);
        }
        if first_top_up != self.first_top_up {
            return Err(CardMismatch::FirstTopUp);
        }
        let (link, block) = (None, PartnerBlock::default());
        let fields = CardFields { id, number, kind: card_type, order, valid_until, link, block };
        Card::try_from(fields).map_err(|_| CardMismatch::Number)
    }
}

/// What each card of `lines` has to be, in the order of the lines, in which the bank issues them.
pub fn card_specs(lines: &[OrderLine]) -> impl Iterator<Item = CardSpec> {
    lines.iter().flat_map(|line| {
        let first_top_up = match &line.details {
            LineDetails::Virtual { amount } => Some(*amount),
            LineDetails::Plastic { .. } => None,
        };
        let spec = CardSpec { card_type: line.card_type, first_top_up };
        std::iter::repeat_n(spec, usize::try_from(line.count).unwrap_or(usize::MAX))
    })
}

fn count_up_to(count: i64, most: u32) -> Result<u32, Invalid> {
    u32::try_from(count)
        .ok()
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| Invalid::new(format!("must be an integer from 1 to {most}")))
}

fn one_of(word: &str, allowed: &[CardType]) -> Result<CardType, Invalid> {
    allowed
        .iter()
        .copied()
        .find(|kind| kind.as_str() == word)
        .ok_or_else(|| Invalid::new(format!("must be {}", words(allowed))))
}

fn words(types: &[CardType]) -> String {
    types.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn virtual_line(count: u32, amount: i64) -> OrderLine {
        OrderLine {
            card_type: CardType::Mlz,
            count,
            details: LineDetails::Virtual { amount: Kopecks::new(amount) },
        }
    }

    fn place(lines: &[OrderLine]) -> Result<Order, Invalid> {
        Order::place(OrderId::new(Uuid::nil()), OrderKind::Virtual, lines, OffsetDateTime::UNIX_EPOCH)
    }

    #[test]
    fn counts_and_first_top_ups_have_ranges() {
        assert!(plastic_count(1).is_ok() && plastic_count(10_000).is_ok());
        assert!(virtual_count(1).is_ok() && virtual_count(5_000).is_ok());
        assert!(first_top_up(5_000).is_ok() && first_top_up(1_500_000).is_ok());
        for out in [0, -1, 10_001, i64::MAX, i64::MIN] {
            assert!(plastic_count(out).is_err() && virtual_count(out).is_err());
        }
        assert!(virtual_count(5_001).is_err());
        assert!(first_top_up(4_999).is_err() && first_top_up(1_500_001).is_err());
        assert!(plastic_type("MLZ").is_err() && plastic_type("P04").is_err() && plastic_type("KKL").is_ok());
        assert!(virtual_type("MP4").is_err() && virtual_type("mlz").is_err());
    }

    #[test]
    fn an_issued_card_is_compared_with_its_line() {
        let plastic = OrderLine {
            card_type: CardType::Kkl,
            count: 2,
            details: LineDetails::Plastic {
                address: DeliveryAddress::parse("Tula").unwrap(),
                recipient: Recipient::parse("Anna").unwrap(),
                phone: Phone::parse("9031234567").unwrap(),
            },
        };
        let specs: Vec<CardSpec> = card_specs(&[plastic, virtual_line(1, 5_000)]).collect();
        let amount = Some(Kopecks::new(5_000));
        assert_eq!(specs.iter().map(|spec| spec.first_top_up).collect::<Vec<_>>(), [None, None, amount]);

        let (ean, ten) =
            (CardNumber::ean13(460_000_000_000).unwrap(), CardNumber::from_u64(1_000_000_000).unwrap());
        let [plastic, _, ordered] = specs[..] else { panic!("{specs:?}") };
        let (order, card) = (OrderId::new(Uuid::nil()), CardId::new(Uuid::max()));
        let issue = |spec: CardSpec, kind, number, first_top_up| {
            spec.issue(order, card, kind, number, Date::MAX, first_top_up)
                .map(|card| (card.id(), card.link()))
        };
        assert_eq!(issue(plastic, CardType::Kkl, ean, None), Ok((card, None)));
        assert_eq!(issue(plastic, CardType::Mp4, ean, None), Err(CardMismatch::Type));
        assert_eq!(issue(plastic, CardType::Kkl, ten, None), Err(CardMismatch::Number));
        assert_eq!(issue(plastic, CardType::Kkl, ean, amount), Err(CardMismatch::FirstTopUp));
        assert_eq!(issue(ordered, CardType::Mlz, ten, amount), Ok((card, None)));
        assert_eq!(issue(ordered, CardType::Mlz, ean, amount), Err(CardMismatch::Number));
        for other in [None, Some(Kopecks::new(4_999))] {
            assert_eq!(issue(ordered, CardType::Mlz, ten, other), Err(CardMismatch::FirstTopUp));
        }
    }

    #[test]
    fn an_order_has_1_to_100_items_and_at_most_100_000_cards() {
        assert!(place(&[]).is_err());
        assert!(place(&vec![virtual_line(1, 5_000); 101]).is_err());
        assert_eq!(place(&vec![virtual_line(1, 5_000); 100]).unwrap().cards(), 100);
        assert_eq!(place(&vec![virtual_line(5_000, 5_000); 20]).unwrap().cards(), 100_000);
        assert!(
            place(&[vec![virtual_line(5_000, 5_000); 20], vec![virtual_line(1, 5_000)]].concat()).is_err()
        );
    }

    #[test]
    fn money_is_held_for_an_open_order_that_costs_some() {
        let order = place(&[virtual_line(1, 5_000)]).unwrap();
        assert!(order.holds_money());
        assert!(
            !Order::from_stored(OrderFields { cost: Kopecks::ZERO, ..order.clone().into_fields() })
                .holds_money()
        );
        assert!(
            !Order::from_stored(OrderFields { state: OrderState::Success, ..order.clone().into_fields() })
                .holds_money()
        );
        assert!(
            !Order::from_stored(OrderFields {
                state: OrderState::Success,
                cost: Kopecks::ZERO,
                ..order.into_fields()
            })
            .holds_money()
        );
    }

    proptest! {
        #[test]
        fn the_cost_is_the_sum_of_count_times_amount(lines in prop::collection::vec((1_u32..=5_000, 5_000_i64..=1_500_000), 1..=20)) {
            let order = place(&lines.iter().map(|(count, amount)| virtual_line(*count, *amount)).collect::<Vec<_>>()).unwrap();
            let expected: i64 = lines.iter().map(|(count, amount)| i64::from(*count) * amount).sum();
            prop_assert_eq!(order.cost().get(), expected);
        }
    }
}
