use std::pin::Pin;

use futures_util::FutureExt as _;

use super::*;

type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Permit<u8>, NoPermit>> + 'a>>;

fn queue(permits: usize, share: usize, waiters: usize) -> FairQueue<u8> {
    FairQueue::new(Limits { permits, share, waiters, timeout: Duration::from_secs(60) })
}

/// A permit that is free.
fn take(queue: &FairQueue<u8>, source: u8) -> Permit<u8> {
    queue.acquire(source, Rank::First).now_or_never().expect("a permit is free").unwrap()
}

/// A waiter.
fn ask(queue: &FairQueue<u8>, source: u8, rank: Rank) -> Waiting<'_> {
    let mut waiting: Waiting<'_> = Box::pin(queue.acquire(source, rank));
    assert!((&mut waiting).now_or_never().is_none(), "no permit is free");
    waiting
}

/// The one waiter that has a permit.
fn served(waiting: &mut Vec<(char, Waiting<'_>)>) -> (char, Permit<u8>) {
    let mut found = None;
    waiting.retain_mut(|(name, waiting)| match waiting.now_or_never() {
        Some(permit) => {
            assert!(found.replace((*name, permit.unwrap())).is_none(), "one permit serves one");
            false
        }
        None => true,
    });
    found.expect("a waiter is served")
}

#[tokio::test]
async fn sources_are_served_in_turn_however_many_waiters_each_has() {
    let queue = queue(1, 1, 8);
    let mut permit = take(&queue, 1);
    let mut waiting: Vec<_> = "abcd".chars().map(|name| (name, ask(&queue, 1, Rank::First))).collect();
    waiting.push(('x', ask(&queue, 2, Rank::First)));
    waiting.push(('y', ask(&queue, 2, Rank::First)));
    waiting.push(('z', ask(&queue, 3, Rank::First)));
    let mut order = String::new();
    while !waiting.is_empty() {
        drop(permit);
        let (name, next) = served(&mut waiting);
        order.push(name);
        permit = next;
    }
    assert_eq!(order, "axzbycd");
}

#[tokio::test]
async fn the_last_rank_waits_for_the_first() {
    let queue = queue(1, 1, 8);
    let mut permit = take(&queue, 1);
    let mut waiting: Vec<_> = "st".chars().map(|name| (name, ask(&queue, 9, Rank::Last))).collect();
    waiting.extend("ab".chars().map(|name| (name, ask(&queue, 1, Rank::First))));
    let mut order = String::new();
    while !waiting.is_empty() {
        drop(permit);
        let (name, next) = served(&mut waiting);
        order.push(name);
        permit = next;
    }
    assert_eq!(order, "abst");
}

#[tokio::test]
async fn a_source_has_at_most_its_share_of_the_permits() {
    let queue = queue(3, 2, 8);
    let (first, _second) = (take(&queue, 1), take(&queue, 1));
    let mut waiting = vec![('a', ask(&queue, 1, Rank::First))];
    // The rest is there for others, though one waiter waits.
    let third = take(&queue, 2);
    waiting.push(('x', ask(&queue, 3, Rank::First)));
    drop(third);
    let (name, _other) = served(&mut waiting);
    assert_eq!(name, 'x', "another source goes before one that has its share");
    drop(first);
    assert_eq!(served(&mut waiting).0, 'a');
}

#[tokio::test]
async fn waiters_are_bounded_by_source() {
    let queue = queue(1, 1, 2);
    let _permit = take(&queue, 1);
    let mut waiting: Vec<_> = (0..2).map(|_| ask(&queue, 1, Rank::First)).collect();
    let refused = |source| queue.acquire(source, Rank::First).now_or_never().map(|permit| permit.map(|_| ()));
    assert_eq!(refused(1), Some(Err(NoPermit::Full)));
    let _other = ask(&queue, 2, Rank::First);
    // Waiting requests that were dropped leave room.
    waiting.truncate(1);
    waiting.push(ask(&queue, 1, Rank::First));
    assert_eq!(refused(1), Some(Err(NoPermit::Full)));
}

#[tokio::test]
async fn permits_come_back() {
    let queue = queue(1, 1, 8);
    let running = take(&queue, 1);
    let (gone, on_the_way) = (ask(&queue, 1, Rank::First), ask(&queue, 2, Rank::First));
    drop(gone);
    drop(running);
    // Its permit was sent, and it goes away without looking.
    drop(on_the_way);
    let state = lock(&queue.state);
    assert_eq!((state.free, state.in_use.len()), (1, 0));
    assert!(state.ranks.iter().all(|Turns(turns)| turns.is_empty()));
}

#[tokio::test]
async fn a_waiter_does_not_wait_for_ever() {
    let limits = Limits { permits: 1, share: 1, waiters: 1, timeout: Duration::ZERO };
    let queue = FairQueue::new(limits);
    let _running = take(&queue, 1);
    assert_eq!(queue.acquire(2, Rank::First).await.err(), Some(NoPermit::TimedOut));
}
