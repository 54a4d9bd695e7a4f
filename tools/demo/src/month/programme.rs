//! The programme: its employees, their cards, and what became of each kopeck by the responses.

use anyhow::{Context as _, ensure};
use kopeck_client::{
    CardClosing, CardLimit, CardStatus, CardType, CardWithdrawal, Client, ClosingReason, NewEmployee,
    PlasticItem, Purchase, RequestState, Run, TopUp, Uuid,
};

use crate::pool;
use crate::progress::Progress;
use crate::steps::patience;

/// The deposit that tells the clock.
pub(crate) const CLOCK_DEPOSIT: i64 = 100;
/// The load of each card.
const LOAD: i64 = 300_000;
/// What the rule gives to each card.
pub(super) const PAYDAY: i64 = 50_000;
/// The load of a replacement.
const REPLACEMENT_LOAD: i64 = 200_000;
/// The amount withdrawn from a card.
const TAKEN_BACK: i64 = 50_000;
/// The refund of a purchase.
const REFUND: i64 = 500;
/// The most cards of a request.
const CARDS_A_REQUEST: usize = 10_000;
/// The most cards of an item of an order.
const CARDS_AN_ITEM: usize = 5_000;
/// Restaurants and groceries.
const CATEGORIES: [&str; 2] = ["5812", "5411-5499"];

/// An employee and the card that they have now.
#[derive(Debug, Clone, Copy)]
struct Holder {
    employee: Uuid,
    card: Uuid,
    /// Their purchase at the bank, and its amount.
    purchase: (i64, i64),
}

/// The amounts posted, by the responses; kopecks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The credentials of the partner, and the source of the time.
    pub(crate) deposited: i64,
    pub(crate) topped_up: i64,
    pub(crate) returned: i64,
    pub(crate) spent: i64,
    pub(crate) refunded: i64,
    /// Transactions of cards.
    pub(crate) transactions: usize,
    pub(crate) cards: usize,
    pub(crate) closed: usize,
    pub(crate) employees: usize,
}

/// The programme.
pub(crate) struct Programme<'a> {
    client: &'a Client,
    holders: Vec<Holder>,
    pub(crate) tally: Tally,
}

impl<'a> Programme<'a> {
    /// Hires, orders, links, limits and loads.
    pub(crate) async fn begin(client: &'a Client, deposit: i64, cards: usize) -> anyhow::Result<Self> {
        let progress = Progress::of("employees", cards);
        let employees = pool::each(0..cards, &progress, async |number| {
            let employee = NewEmployee::new(format!("M-{number}"));
            Ok(client.employees().add(&employee).await?.id_employee)
        })
        .await?;
        let tally = Tally { deposited: deposit + CLOCK_DEPOSIT, employees: cards, ..Tally::default() };
        let mut programme = Self { client, holders: Vec::new(), tally };
        let cards = programme.issue(&employees).await?;
        let limit = CardLimit::default().only_at(CATEGORIES);
        for chunk in cards.chunks(CARDS_A_REQUEST) {
            let request = client.limits().set(chunk, &limit).await?.set_limits_cards_id;
            succeeded(client.limits().wait(request, patience(), |_| ()).await?)?;
        }
        programme.load(&cards, LOAD).await?;
        let holder = |(employee, card)| Holder { employee, card, purchase: (0, 0) };
        programme.holders = employees.into_iter().zip(cards).map(holder).collect();
        Ok(programme)
    }

    /// A card for each of `employees`, their main one.
    async fn issue(&mut self, employees: &[Uuid]) -> anyhow::Result<Vec<Uuid>> {
        let client = self.client;
        let item = |cards: &[Uuid]| {
            Ok(PlasticItem {
                number_cards: u32::try_from(cards.len())?,
                type_card: CardType::Kkl,
                delivery_address: "Москва, ул. Примерная, д. 1".to_owned(),
                recipient: "Орлова Мария Ивановна".to_owned(),
                phone: "9000000901".to_owned(),
            })
        };
        let items: Vec<_> = employees.chunks(CARDS_AN_ITEM).map(item).collect::<anyhow::Result<_>>()?;
        let order = client.orders().plastic(&items).await?.order_id;
        succeeded(client.orders().wait(order, patience(), |_| ()).await?)?;
        let issued = client.orders().result(order).await?.data;
        ensure!(issued.len() == employees.len(), "{} cards came, not {}", issued.len(), employees.len());
        self.tally.cards += issued.len();
        let progress = Progress::of("cards linked", issued.len());
        pool::each(employees.iter().zip(issued), &progress, async |(&employee, issued)| {
            let link = client.cards().link(employee, &issued.custom_id_card, &CardStatus::Main);
            Ok(link.await.with_context(|| format!("card {}", issued.custom_id_card))?.id_card)
        })
        .await
    }

    async fn load(&mut self, cards: &[Uuid], amount: i64) -> anyhow::Result<()> {
        let requests = self.client.replenishments();
        for chunk in cards.chunks(CARDS_A_REQUEST) {
            let top_ups: Vec<_> = chunk.iter().map(|card| TopUp::new(*card, amount)).collect();
            let id = requests.create(&top_ups).await?.replenishment_id;
            succeeded(requests.wait(id, patience(), |_| ()).await?)?;
            self.tally.topped_up += amount * i64::try_from(chunk.len())?;
            self.tally.transactions += chunk.len();
        }
        Ok(())
    }

    /// Each card pays at a restaurant. One of ten tries a casino too, which its limit does not allow.
    pub(crate) async fn go_shopping(&mut self) -> anyhow::Result<()> {
        let client = self.client;
        let progress = Progress::of("purchases", self.holders.len());
        let holders = self.holders.iter().enumerate();
        let bought = pool::each(holders, &progress, async |(number, holder)| {
            let amount = 1_000 + i64::try_from(number % 97)?;
            let at = |mcc: &str| Purchase { mcc: Some(mcc.to_owned()), ..Purchase::new(amount) };
            if number % 10 == 0 {
                let refused = client.sandbox().purchase(holder.card, &at("7995")).await?;
                ensure!(!refused.approved, "a casino was paid by card {}", holder.card);
            }
            let paid = client.sandbox().purchase(holder.card, &at("5812")).await?;
            let id = paid.transaction_id.with_context(|| format!("card {} did not pay", holder.card))?;
            Ok((id, amount))
        })
        .await?;
        for (holder, purchase) in self.holders.iter_mut().zip(bought) {
            holder.purchase = purchase;
            self.tally.spent += purchase.1;
            self.tally.transactions += 1;
        }
        Ok(())
    }

    /// The cards of one holder of a hundred are lost; each gets another one.
    pub(crate) async fn lose_and_replace(&mut self) -> anyhow::Result<()> {
        let lost = self.one_of_a_hundred(1);
        let cards: Vec<_> = lost.iter().map(|holder| holder.card).collect();
        self.close(&cards, &ClosingReason::Lost).await?;
        let employees: Vec<_> = lost.iter().map(|holder| holder.employee).collect();
        let replacements = self.issue(&employees).await?;
        self.load(&replacements, REPLACEMENT_LOAD).await?;
        let by_employee: std::collections::HashMap<_, _> = employees.into_iter().zip(replacements).collect();
        for holder in &mut self.holders {
            if let Some(card) = by_employee.get(&holder.employee) {
                holder.card = *card;
            }
        }
        Ok(())
    }

    /// The cards of other holders are frozen for some days.
    pub(crate) async fn freeze(&self) -> anyhow::Result<()> {
        self.switch(&CardStatus::TemporarilyBlocked).await
    }

    /// The run of payday gave its amount to each card that is not frozen, once.
    pub(super) fn be_paid(&mut self, run: &Run) -> anyhow::Result<()> {
        let people = self.holders.len() - self.one_of_a_hundred(2).len();
        let expected = PAYDAY * i64::try_from(people)?;
        ensure!(
            (usize::try_from(run.number)?, run.amount) == (people, expected),
            "payday gave {} to {} cards, not {expected} to {people}",
            run.amount,
            run.number
        );
        println!("  {people} cards got {PAYDAY} kopecks each");
        self.tally.topped_up += expected;
        self.tally.transactions += people;
        Ok(())
    }

    /// They pay again.
    pub(crate) async fn unfreeze(&self) -> anyhow::Result<()> {
        self.switch(&CardStatus::Main).await
    }

    async fn switch(&self, status: &CardStatus) -> anyhow::Result<()> {
        let frozen = self.one_of_a_hundred(2);
        let progress = Progress::of("cards switched", frozen.len());
        pool::each(frozen, &progress, async |holder| {
            Ok(self.client.cards().switch(holder.employee, holder.card, status).await?)
        })
        .await
        .map(drop)
    }

    /// Takes money back from some cards.
    pub(crate) async fn take_back(&mut self) -> anyhow::Result<()> {
        let requests = self.client.withdrawals();
        let cards: Vec<_> = self.one_of_a_hundred(3).iter().map(|holder| holder.card).collect();
        let items: Vec<_> = cards.iter().map(|card| CardWithdrawal::new(*card, TAKEN_BACK)).collect();
        let id = requests.create(&items).await?.withdrawal_id;
        succeeded(requests.wait(id, patience(), |_| ()).await?)?;
        for card in requests.result(id).await? {
            self.moved_back(card.amount_withdrawn);
        }
        Ok(())
    }

    /// Refunds a part of some purchases.
    pub(crate) async fn refund(&mut self) -> anyhow::Result<()> {
        for holder in self.one_of_a_hundred(5) {
            self.client.sandbox().refund(holder.card, holder.purchase.0, REFUND).await?;
            self.tally.refunded += REFUND;
            self.tally.transactions += 1;
        }
        Ok(())
    }

    /// Holders leave: their cards are closed and unlinked, and they are erased. One whose card the bank does not close
    /// stays.
    pub(crate) async fn leave(&mut self) -> anyhow::Result<()> {
        let leavers = self.one_of_a_hundred(4);
        let cards: Vec<_> = leavers.iter().map(|holder| holder.card).collect();
        let closed = self.close(&cards, &ClosingReason::Leaver).await?;
        for holder in leavers.iter().filter(|holder| closed.contains(&holder.card)) {
            self.client.cards().unlink(holder.employee, holder.card).await?;
            self.client.employees().erase(holder.employee).await?;
            self.tally.employees -= 1;
        }
        Ok(())
    }

    /// Answers with the cards that the bank closed.
    async fn close(&mut self, cards: &[Uuid], reason: &ClosingReason) -> anyhow::Result<Vec<Uuid>> {
        let requests = self.client.closings();
        let items: Vec<_> = cards.iter().map(|card| CardClosing::new(*card, reason.clone())).collect();
        let id = requests.create(&items).await?.closing_id;
        let state = requests.wait(id, patience(), |_| ()).await?;
        ensure!(state != RequestState::Decline, "no card was closed");
        let closed: Vec<_> =
            requests.result(id).await?.into_iter().filter(|card| card.result_closing).collect();
        self.tally.closed += closed.len();
        for card in &closed {
            self.moved_back(card.amount_returned);
        }
        Ok(closed.into_iter().map(|card| card.id_card).collect())
    }

    fn moved_back(&mut self, amount: i64) {
        self.tally.returned += amount;
        // An empty card gives nothing back, and has no transaction of it.
        self.tally.transactions += usize::from(amount > 0);
    }

    /// The same holders for the same `rest`.
    fn one_of_a_hundred(&self, rest: usize) -> Vec<Holder> {
        let numbered = self.holders.iter().enumerate();
        numbered.filter(|(number, _)| number % 100 == rest).map(|(_, holder)| *holder).collect()
    }
}

fn succeeded(state: RequestState) -> anyhow::Result<()> {
    ensure!(state == RequestState::Success, "a request ended as {state}");
    Ok(())
}
