//! Webhooks: addresses of a partner to which events are delivered, and the rules of delivery.

mod backoff;
mod excerpt;

use kopeck_domain::event::{DisableReason, EventType};
use kopeck_domain::ids::{DeliveryId, EventId, WebhookId};
use kopeck_domain::{Invalid, text};
use time::{Duration, OffsetDateTime};

pub use backoff::{BACKOFF_AFTER, endpoint_pause};
pub use excerpt::excerpt;

/// The most webhooks of a partner, disabled ones included.
pub const MAX_WEBHOOKS: u64 = 10;

/// The most pending deliveries that a partner's requests can add up to, for each webhook.
pub const MAX_PENDING: u64 = 10_000;

/// Attempts to one webhook that run at once.
pub const ATTEMPTS_AT_ONCE: u32 = 4;

/// How long a replaced secret signs beside the new one.
pub const SECRET_OVERLAP: Duration = Duration::hours(24);

/// A webhook is disabled by the first failure this long after the first failure of a series without success.
pub const DISABLED_AFTER: Duration = Duration::hours(72);

/// The longest time that a receiver can ask to be left alone by `Retry-After`.
pub const MAX_RETRY_AFTER: Duration = Duration::hours(24);

/// The delay after each failed attempt; a delivery has failed for good when none is left.
const RETRY_DELAYS: [Duration; 9] = [
    Duration::seconds(5),
    Duration::seconds(30),
    Duration::minutes(2),
    Duration::minutes(10),
    Duration::hours(1),
    Duration::hours(3),
    Duration::hours(6),
    Duration::hours(12),
    Duration::hours(24),
];

kopeck_domain::string_enum! {
    /// Where a delivery stands.
    DeliveryStatus {
        /// It waits for its first or next attempt.
        Pending = "PENDING",
        /// The receiver accepted it.
        Delivered = "DELIVERED",
        /// It was given up.
        Failed = "FAILED",
    }
}

/// The text of an address, 1 to 2048 characters, none of which is invisible or read as another by parsers of URLs. Where it may
/// lead is for the sender of deliveries to check.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(url: &str) -> Result<Self, Invalid> {
        if url.is_empty() || url.chars().nth(2048).is_some() {
            return Err(Invalid::new("must have 1 to 2048 characters"));
        }
        if url.chars().any(|character| text::is_excluded(character) || character.is_whitespace()) {
            return Err(Invalid::new("must not hold blanks, control, format or unassigned characters"));
        }
        // Parsers take a backslash for a slash; the others are not of a URL, and end one in a text.
        if url.contains(['\\', '<', '>', '"', '`', '^', '{', '|', '}']) {
            return Err(Invalid::new("must not hold any of \\ < > \" ` ^ { | }"));
        }
        Ok(Self(url.to_owned()))
    }

    /// An address that was checked before.
    #[must_use]
    pub const fn from_stored(url: String) -> Self {
        Self(url)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An address may hold a token of the receiver, so it stays out of logs.
impl std::fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookUrl")
    }
}

/// Reads a webhook's description: a free text of up to 256 characters, which may be empty.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse_description(description: &str) -> Result<String, Invalid> {
    if description.is_empty() { Ok(String::new()) } else { text::parse(description, 256) }
}

/// An address of a partner, and how its deliveries go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its identifier.
    pub id: WebhookId,
    /// Where events are posted.
    pub url: WebhookUrl,
    /// These types alone; `None` for all.
    pub types: Option<Vec<EventType>>,
    /// The partner's own words.
    pub description: String,
    /// Whether the data of events are encrypted under the partner's sealing key.
    pub sealed: bool,
    /// Whether events are delivered.
    pub enabled: bool,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// The last accepted delivery.
    pub last_success_at: Option<OffsetDateTime>,
    /// The last failed attempt.
    pub last_failure_at: Option<OffsetDateTime>,
    /// The first failed attempt since the last accepted delivery.
    pub failing_since: Option<OffsetDateTime>,
    /// Failed attempts since the last accepted delivery.
    pub failures: u32,
    /// No attempt begins before this timestamp, because of those failures.
    pub paused_until: Option<OffsetDateTime>,
}

impl Webhook {
    /// An enabled webhook for events of all types, in clear, to which nothing was delivered yet.
    #[must_use]
    pub const fn new(id: WebhookId, url: WebhookUrl, created_at: OffsetDateTime) -> Self {
        Self {
            id,
            url,
            types: None,
            description: String::new(),
            sealed: false,
            enabled: true,
            created_at,
            last_success_at: None,
            last_failure_at: None,
            failing_since: None,
            failures: 0,
            paused_until: None,
        }
    }

    /// Whether events of this type are delivered to it without being asked for.
    #[must_use]
    pub fn wants(&self, event_type: EventType) -> bool {
        event_type != EventType::Ping && self.types.as_ref().is_none_or(|types| types.contains(&event_type))
    }

    /// Enables or disables it. A series of failures begins anew.
    pub fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        self.failing_since = None;
        self.begin_anew();
    }

    /// Sets another address, whose failures are counted from zero. The three days after which a webhook is disabled go on.
    pub fn set_url(&mut self, url: WebhookUrl) {
        self.url = url;
        self.begin_anew();
    }

    const fn begin_anew(&mut self) {
        self.failures = 0;
        self.paused_until = None;
    }

    /// How many attempts may run at once: one while the endpoint is failing.
    #[must_use]
    pub const fn attempts_at_once(&self) -> u32 {
        if self.failures >= BACKOFF_AFTER { 1 } else { ATTEMPTS_AT_ONCE }
    }

    /// Records what an attempt came to. Returns the reason if that disables the webhook.
    pub fn record(&mut self, outcome: AttemptOutcome, at: OffsetDateTime) -> Option<DisableReason> {
        if outcome == AttemptOutcome::Delivered {
            self.last_success_at = Some(at);
            self.failing_since = None;
            self.begin_anew();
            return None;
        }
        self.last_failure_at = Some(at);
        self.failures = self.failures.saturating_add(1);
        let pause = endpoint_pause(self.failures);
        if pause.is_positive() {
            self.paused_until = Some(at + pause.max(outcome.asked()));
        }
        let since = *self.failing_since.get_or_insert(at);
        let reason = match outcome {
            AttemptOutcome::Gone => DisableReason::Gone,
            _ if at - since >= DISABLED_AFTER => DisableReason::Failing,
            _ => return None,
        };
        self.enabled = false;
        Some(reason)
    }
}

/// What an attempt came to, as far as the rules of delivery go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver accepted the event.
    Delivered,
    /// The receiver wants no more events.
    Gone,
    /// Anything else.
    Failed {
        /// How long the receiver asked to be left alone.
        retry_after: Option<Duration>,
    },
}

impl AttemptOutcome {
    /// For how long the receiver asked to be left alone, [`MAX_RETRY_AFTER`] at most.
    fn asked(self) -> Duration {
        match self {
            Self::Failed { retry_after } => retry_after.unwrap_or(Duration::ZERO).min(MAX_RETRY_AFTER),
            Self::Delivered | Self::Gone => Duration::ZERO,
        }
    }
}

/// An event on its way to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its identifier.
    pub id: DeliveryId,
    /// The number of the event in the partner's feed.
    pub seq: i64,
    /// The event.
    pub event: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Attempts whose outcome is known.
    pub attempts: u32,
    /// The last of them.
    pub last_attempt_at: Option<OffsetDateTime>,
    /// The receiver's last status code.
    pub last_status_code: Option<u16>,
    /// Why the last attempt failed, in the service's own words, and the beginning of the receiver's response.
    pub last_error: Option<String>,
    /// When the next attempt is due; `None` unless it is pending.
    pub next_attempt_at: Option<OffsetDateTime>,
}

impl Delivery {
    /// A delivery that is due at once.
    #[must_use]
    pub const fn new(
        id: DeliveryId,
        seq: i64,
        event: EventId,
        event_type: EventType,
        at: OffsetDateTime,
    ) -> Self {
        Self {
            id,
            seq,
            event,
            event_type,
            status: DeliveryStatus::Pending,
            attempts: 0,
            last_attempt_at: None,
            last_status_code: None,
            last_error: None,
            next_attempt_at: Some(at),
        }
    }

    /// Records what an attempt came to. `spread` moves the next attempt by up to a fifth of the delay either way.
    pub fn record(&mut self, outcome: AttemptOutcome, at: OffsetDateTime, spread: Spread) {
        let delay = usize::try_from(self.attempts).ok().and_then(|made| RETRY_DELAYS.get(made));
        self.attempts = self.attempts.saturating_add(1);
        self.last_attempt_at = Some(at);
        (self.status, self.next_attempt_at) = match (outcome, delay) {
            (AttemptOutcome::Delivered, _) => (DeliveryStatus::Delivered, None),
            (AttemptOutcome::Failed { .. }, Some(delay)) => {
                (DeliveryStatus::Pending, Some(at + spread.of(*delay).max(outcome.asked())))
            }
            (AttemptOutcome::Gone | AttemptOutcome::Failed { .. }, _) => (DeliveryStatus::Failed, None),
        };
    }

    /// Gives it up without an attempt.
    pub fn give_up(&mut self, error: &str) {
        self.status = DeliveryStatus::Failed;
        self.next_attempt_at = None;
        self.last_error = Some(error.to_owned());
    }
}

/// A random number that spreads retries in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread(pub u8);

impl Spread {
    /// From four to six fifths of the delay.
    fn of(self, delay: Duration) -> Duration {
        delay * (0.8 + 0.4 * f64::from(self.0) / 255.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
    const FAILED: AttemptOutcome = AttemptOutcome::Failed { retry_after: None };

    fn id<T: From<uuid::Uuid>>() -> T {
        uuid::Uuid::nil().into()
    }

    fn delivery() -> Delivery {
        Delivery::new(id(), 1, id(), EventType::OrderStatus, START)
    }

    fn webhook() -> Webhook {
        Webhook::new(id(), WebhookUrl::parse("https://example.com/").unwrap(), START)
    }

    #[test]
    fn a_delivery_is_tried_ten_times() {
        let mut delivery = delivery();
        let mut delays = Vec::new();
        while delivery.status == DeliveryStatus::Pending {
            delivery.record(FAILED, START, Spread(0));
            delays.extend(delivery.next_attempt_at.map(|at| (at - START).whole_seconds()));
        }
        assert_eq!(delays, [4, 24, 96, 480, 2_880, 8_640, 17_280, 34_560, 69_120]);
        assert_eq!((delivery.attempts, delivery.status), (10, DeliveryStatus::Failed));
    }

    #[test]
    fn a_receiver_may_ask_for_more_time() {
        for (asked, spread, waits) in [(3, 0, 4), (3, 255, 6), (60, 255, 60), (999_999, 0, 86_400)] {
            let mut delivery = delivery();
            let retry_after = Some(Duration::seconds(asked));
            delivery.record(AttemptOutcome::Failed { retry_after }, START, Spread(spread));
            assert_eq!(delivery.next_attempt_at, Some(START + Duration::seconds(waits)));
        }
    }

    #[test]
    fn a_delivery_ends_with_the_receivers_word() {
        for (outcome, status) in [
            (AttemptOutcome::Delivered, DeliveryStatus::Delivered),
            (AttemptOutcome::Gone, DeliveryStatus::Failed),
        ] {
            let mut delivery = delivery();
            delivery.record(outcome, START, Spread(0));
            assert_eq!((delivery.status, delivery.next_attempt_at, delivery.attempts), (status, None, 1));
        }
    }

    #[test]
    fn a_delivery_that_is_given_up_says_why() {
        let mut delivery = delivery();
        delivery.give_up("the webhook is disabled");
        assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Failed, None));
        assert_eq!((delivery.attempts, delivery.last_error.as_deref()), (0, Some("the webhook is disabled")));
    }

    #[test]
    fn a_webhook_is_disabled_after_three_days_of_failures() {
        let mut webhook = webhook();
        let at = |hours| START + Duration::hours(hours);
        assert_eq!(webhook.record(FAILED, at(0)), None);
        assert_eq!(webhook.record(AttemptOutcome::Delivered, at(71)), None);
        assert_eq!(webhook.record(FAILED, at(72)), None);
        assert_eq!(webhook.record(FAILED, at(143)), None);
        assert!(webhook.enabled);
        assert_eq!(webhook.record(FAILED, at(144)), Some(DisableReason::Failing));
        assert!(!webhook.enabled);
        webhook.set_enabled(true);
        assert_eq!(webhook.record(FAILED, at(145)), None);
        assert_eq!(webhook.record(AttemptOutcome::Gone, at(146)), Some(DisableReason::Gone));
    }

    #[test]
    fn an_endpoint_that_keeps_failing_is_left_alone_until_a_success() {
        let (mut webhook, mut now) = (webhook(), START);
        for _ in 0..9 {
            webhook.record(FAILED, now);
        }
        assert_eq!((webhook.paused_until, webhook.attempts_at_once()), (None, 4));
        let mut attempts = 9;
        while now < START + Duration::minutes(5) {
            webhook.record(FAILED, now);
            attempts += 1;
            now = webhook.paused_until.unwrap();
            assert!(now - webhook.last_failure_at.unwrap() >= Duration::SECOND);
            assert_eq!(webhook.attempts_at_once(), 1);
        }
        assert_eq!(attempts, 23, "in five minutes");
        let retry_after = Some(Duration::hours(2));
        webhook.record(AttemptOutcome::Failed { retry_after }, now);
        assert_eq!(webhook.paused_until, Some(now + Duration::hours(2)));
        webhook.record(AttemptOutcome::Delivered, now);
        assert_eq!((webhook.paused_until, webhook.attempts_at_once()), (None, 4));
        for _ in 0..10 {
            webhook.record(FAILED, now);
        }
        webhook.set_url(WebhookUrl::parse("https://example.org/").unwrap());
        assert_eq!((webhook.paused_until, webhook.attempts_at_once()), (None, 4));
        assert_eq!(webhook.failing_since, Some(now), "the three days go on");
    }

    #[test]
    fn a_webhook_wants_its_types_and_never_a_ping() {
        let mut webhook = webhook();
        assert!(webhook.wants(EventType::OrderStatus) && !webhook.wants(EventType::Ping));
        webhook.types = Some(vec![EventType::CardIssued, EventType::Ping]);
        assert!(webhook.wants(EventType::CardIssued));
        assert!(!webhook.wants(EventType::OrderStatus) && !webhook.wants(EventType::Ping));
    }

    #[test]
    fn texts_have_their_limits() {
        let url = WebhookUrl::parse(&"x".repeat(2048)).unwrap();
        assert_eq!((url.as_str(), format!("{url:?}").as_str()), (&*"x".repeat(2048), "WebhookUrl"));
        for url in [String::new(), "x".repeat(2049)] {
            assert!(WebhookUrl::parse(&url).is_err(), "{url:?}");
        }
        for special in [
            "\0 \n\t\u{a0}\u{3000}\u{85}\u{ad}\u{200b}\u{200d}\u{202e}\u{2066}\u{2028}\u{feff}\u{378}",
            "\\<>\"`^{|}",
        ] {
            for character in special.chars() {
                let url = format!("https://good.test/{character}@127.0.0.1/");
                assert!(WebhookUrl::parse(&url).is_err(), "{url:?}");
            }
        }
        for url in ["https://пример.рф/путь?a=[1]&b='x'", "https://[2606:4700::1]:8443/a;b=c,d!e*f(g)~$@+%20"]
        {
            assert!(WebhookUrl::parse(url).is_ok(), "{url}");
        }
        assert_eq!(parse_description("").as_deref(), Ok(""));
        assert!(parse_description(&"я".repeat(257)).is_err());
    }
}
