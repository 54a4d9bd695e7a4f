//! The suite that every implementation of [`Store`](crate::Store) must pass.
//!
//! A case is a function of a store that holds nothing yet. [`contract_tests!`](crate::contract_tests) makes a test of
//! each:
//!
//! ```ignore
//! fn empty_store() -> impl kopeck_port_store::contract::TimeTravel { /* a fresh database */ }
//!
//! kopeck_port_store::contract_tests!(empty_store);
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the module is test code: a case fails by panicking"
)]

use time::Duration;

use crate::Store;

pub mod audit;
pub mod bank_feed;
pub mod card_batches;
pub mod card_refs;
pub mod cards;
pub mod categories;
pub mod credentials;
pub mod employees;
pub mod events;
pub mod idempotency;
pub mod jobs;
pub mod leavers;
pub mod ledger;
pub mod movements;
pub mod orders;
pub mod partners;
pub mod pending_deposits;
pub mod programmes;
pub mod reconciliation;
pub mod reports;
pub mod request_log;
pub mod runs;
pub mod sealed_nonces;
pub mod sessions;
mod support;
pub mod throttle;
pub mod transactions;
pub mod units;
pub mod users;
pub mod webhooks;

/// A store whose own clock, by which work is due and leases end, a test can move.
pub trait TimeTravel: Store {
    /// Moves the clock forward. Whether it goes on by itself meanwhile is the store's own affair.
    fn advance(&self, by: Duration);

    /// Sets the clock, ahead or, by a negative duration, back, as an administrator does.
    fn step(&self, by: Duration);
}

/// Makes one test of each case of the contract. The argument is a function that makes an empty store.
#[macro_export]
macro_rules! contract_tests {
    ($make:ident) => {
        $crate::contract_tests! { @aggregate $make, partners:
            a_partner_is_found_by_key_and_by_id
            a_login_belongs_to_one_partner
            partners_are_listed_oldest_first
            a_partner_is_suspended_and_resumed
            a_policy_is_replaced
            a_password_is_replaced
            sealing_keys_come_newest_first
            a_sealing_key_is_its_partners_own
            a_sealing_key_keeps_when_it_was_first_used
            a_sealing_key_is_encrypted_anew
            a_former_api_key_is_accepted_for_a_while
            a_partner_is_renamed
            a_deleted_partner_leaves_nothing
        }
        $crate::contract_tests! { @aggregate $make, users:
            a_user_is_found_by_login_and_by_id
            a_login_belongs_to_one_user
            users_are_listed_oldest_first_each_partner_its_own
            a_changed_user_is_stored
            a_deleted_user_leaves_nothing
            a_recovery_code_is_spent_once
            a_session_of_a_user_is_found_by_its_token
            sessions_of_a_user_end_one_by_one_and_together
            sessions_of_all_users_of_a_partner_end
            old_sessions_of_users_are_forgotten
            a_users_newest_uploads_are_kept_until_their_end
        }
        $crate::contract_tests! { @aggregate $make, credentials:
            a_credential_is_found_by_key_and_by_id
            a_revoked_credential_stays_without_its_key
            a_credential_is_its_partners_own
            a_credentials_secret_and_password_are_stored_anew
        }
        $crate::contract_tests! { @aggregate $make, sessions:
            a_pair_is_stored_with_its_session
            a_changed_pair_is_stored
            a_revoked_session_shows_in_its_pairs
            all_but_the_latest_sessions_are_revoked
            sessions_are_revoked_by_their_holder
            active_sessions_are_counted
            a_pair_needs_a_session_of_the_same_partner
            a_pair_is_its_partners_own
            expired_sessions_are_forgotten
            forgetting_stops_at_its_limit
            the_latest_use_of_a_session_is_kept
            sessions_are_listed_oldest_first
            all_sessions_but_one_are_revoked
        }
        $crate::contract_tests! { @aggregate $make, throttle:
            the_latest_failures_come_first
            a_nonce_is_spent_once_within_the_window
            old_failures_and_nonces_are_forgotten
        }
        $crate::contract_tests! { @aggregate $make, idempotency:
            an_answer_is_recorded_once
            a_stale_answer_is_replaced
            a_key_is_its_partners_own
            old_responses_are_deleted
        }
        $crate::contract_tests! { @aggregate $make, sealed_nonces:
            a_nonce_of_a_sealed_request_is_spent_once
            a_nonce_is_spent_with_its_unit_of_work
            a_stale_nonce_is_spent_anew
            a_nonce_is_its_partners_own
            old_nonces_are_forgotten
        }
        $crate::contract_tests! { @aggregate $make, employees:
            an_employee_is_read_as_it_was_stored
            an_update_changes_and_clears
            a_custom_id_belongs_to_one_employee
            a_category_must_be_the_partners_own
            an_employee_is_its_partners_own
            pages_follow_the_order_of_creation
            a_refused_insert_leaves_no_gap
            filters_have_to_fit_all_together
            the_search_knows_no_letter_case
            the_search_takes_wildcards_literally
            filtered_lists_are_paged_too
            an_erased_employee_leaves_the_identifier_alone
            pages_close_the_gaps_of_erased_employees
        }
        $crate::contract_tests! { @aggregate $make, reports:
            rows_add_up_what_moved_on_the_cards_of_a_person
            transactions_of_closed_months_are_late
            former_holders_keep_what_moved_while_they_had_the_card
            a_closed_month_keeps_its_rows
            a_programme_gives_in_one_month_whatever_it_gives
        }
        $crate::contract_tests! { @aggregate $make, webhooks:
            a_webhook_is_stored
            a_webhook_is_removed
            a_webhook_is_ready_when_it_has_something_to_do
            webhooks_that_failed_come_last
            a_delivery_is_due_until_it_ends
            pending_deliveries_are_counted
            attempts_beyond_the_horizon_become_due
            missed_events_are_found
            a_paused_webhook_is_not_ready
            an_erased_employee_leaves_no_trace_in_errors
            old_deliveries_are_forgotten
        }
        $crate::contract_tests! { @aggregate $make, bank_feed:
            the_place_in_the_feed_is_stored
            a_decline_is_recorded_once
            owners_are_found_by_number
            an_expiry_is_due_until_it_is_taken
            another_last_day_is_a_new_event
        }
        $crate::contract_tests! { @aggregate $make, movements:
            movements_are_read_as_they_were_booked
            a_period_begins_with_the_least_number
            totals_are_added_up_by_kind
            movements_of_a_kind_are_paged
            movements_are_their_partners_own
        }
        $crate::contract_tests! { @aggregate $make, events:
            events_are_numbered_in_their_order
            an_event_of_undone_work_never_was
            a_feed_is_its_partners_own
            a_feed_shows_some_types_alone
            old_events_are_forgotten
        }
        $crate::contract_tests! { @aggregate $make, categories:
            a_category_is_found_by_id_and_by_name
            a_name_is_shown_as_it_is_stored
            a_name_belongs_to_one_category
            a_category_in_use_cannot_be_deleted
            a_category_is_its_partners_own
            the_list_counts_employees
            pages_close_the_gaps_of_deleted_categories
        }
        $crate::contract_tests! { @aggregate $make, cards:
            a_card_is_read_as_it_was_issued
            a_card_is_linked_and_unlinked
            an_employee_has_one_main_card
            an_employee_of_another_partner_cannot_have_the_card
            a_card_is_its_partners_own
            newer_data_of_the_bank_is_stored
            data_of_the_bank_can_be_outdated
            activation_codes_are_forgotten
            accounts_are_due_by_their_last_refresh
            unassigned_cards_are_open_valid_and_not_linked
            unassigned_cards_come_in_pages
            cards_are_listed_by_each_filter
            cards_come_in_pages
            one_limit_is_set_for_many_cards
            a_number_is_issued_once
            a_block_is_stored_and_found_until_it_is_confirmed
        }
        $crate::contract_tests! { @aggregate $make, card_refs:
            a_card_is_found_by_each_of_its_names
            names_that_no_card_has_are_not_found
            an_erased_employee_is_found_by_no_name
            ten_thousand_names_are_found_at_once
        }
        $crate::contract_tests! { @aggregate $make, transactions:
            stored_transactions_are_passed_over
            the_newest_come_first
            filters_have_to_fit_all_together
            transactions_are_their_cards_own
            all_transactions_are_numbered_as_they_arrive
            filters_of_all_transactions_have_to_fit_all_together
            transactions_need_a_card
            a_card_s_spending_is_payments_less_refunds
        }
        $crate::contract_tests! { @aggregate $make, orders:
            an_order_is_read_as_it_was_placed
            a_state_is_stored
            the_result_comes_by_ordinal
            an_order_is_its_partners_own
            pages_show_the_newest_first
            the_list_filters_by_state
            the_list_filters_by_reference_and_time
        }
        $crate::contract_tests! { @batches $make, [
            replenishments: TopUps, limit_changes: LimitChanges, closings: Closings, withdrawals: Withdrawals
        ] {
            a_request_is_read_as_it_was_made
            a_card_is_in_one_open_request
            released_cards_can_be_requested_again
            decided_cards_stay_as_they_are
            many_cards_are_a_request_like_any_other
            cards_are_marked_as_sent
            a_request_is_its_partners_own
            a_request_takes_only_the_partners_cards
            pages_show_the_newest_first
            the_list_filters_by_state
            a_request_of_ten_thousand_cards
            targets_are_those_that_exist
            thousands_of_targets_are_found_at_once
            facts_are_those_of_every_batch
            the_list_filters_by_reference_and_time
        } }
        $crate::contract_tests! { @aggregate $make, card_batches:
            a_limit_change_keeps_its_limit
            batches_of_each_lane_can_have_the_same_card
            a_withdrawal_keeps_its_amounts
            returned_money_is_added_up
            a_lost_card_is_being_closed_until_the_verdict
        }
        $crate::contract_tests! { @aggregate $make, ledger:
            a_new_partner_has_empty_accounts
            a_movement_changes_the_balances
            a_reference_counts_once
            unbalanced_movements_are_refused
            a_movement_belongs_to_the_partners_own_request
            a_threshold_is_kept
            the_amount_that_needs_an_approval_is_kept
        }
        $crate::contract_tests! { @aggregate $make, programmes:
            a_programme_is_read_as_it_was_stored
            programmes_are_listed_in_the_order_of_creation
            an_audience_has_its_members
            partners_are_due
            a_period_has_one_run
            a_run_is_tried_again_with_other_items
            the_calendar_is_replaced
        }
        $crate::contract_tests! { @aggregate $make, runs:
            a_run_is_read_as_it_was_stored
            a_changed_run_is_stored
            a_reference_is_one_run_s
            runs_are_listed_newest_first
            an_item_is_decided_once
            a_run_keeps_the_order_of_its_requests
            a_run_is_due_by_its_state
            an_erased_employee_leaves_no_values_in_runs
        }
        $crate::contract_tests! { @aggregate $make, pending_deposits:
            a_pending_deposit_is_kept_until_it_is_removed
        }
        $crate::contract_tests! { @aggregate $make, leavers:
            rules_for_leavers_are_kept
            a_leaver_is_read_as_it_was_stored
            leavers_are_due_by_their_time
            the_end_of_a_run_makes_the_next_step_due
            steps_of_leavers_can_be_called_off
        }
        $crate::contract_tests! { @aggregate $make, reconciliation:
            entries_add_up_to_the_balances
            references_show_what_they_hold_and_spent
            orders_show_their_cards_and_work
            the_money_of_all_partners_is_added_up
            sound_books_have_nothing_to_report
            cards_come_by_their_numbers
            transactions_come_by_card_and_time
        }
        $crate::contract_tests! { @aggregate $make, jobs:
            work_is_claimed_when_it_is_due
            the_longest_due_is_claimed_first
            partners_take_turns
            leased_work_is_taken_over_after_the_lease
            work_given_back_waits_and_remembers
            a_claim_that_is_not_current_does_nothing
            two_workers_never_get_the_same_attempt
            finished_work_is_gone
            cancelled_work_is_withdrawn
            leases_end_all_at_once
            due_jobs_are_counted
            work_goes_on_after_the_clock_was_set_back
            times_within_the_horizon_stay
            stuck_work_shows_and_stays_due
            work_can_be_seized
            the_backlog_is_counted
        }
        $crate::contract_tests! { @aggregate $make, request_log:
            requests_are_read_in_the_order_of_writing
            the_newest_requests_come_first
            numbers_go_on_whatever_the_clock_shows
            requests_are_found_by_each_filter
            a_reader_with_a_filter_goes_on
            a_reader_misses_no_row_of_concurrent_writers
            a_request_log_is_its_partners_own
            a_log_without_its_partner_is_not_written
            old_requests_are_forgotten
        }
        $crate::contract_tests! { @aggregate $make, audit:
            an_entry_is_read_as_it_was_appended
            an_entry_is_committed_with_its_unit_of_work
            entries_of_many_units_stand_in_one_chain_after_the_other
            the_latest_entries_come_first
            a_chain_is_read_in_pieces
            a_chain_is_pruned_up_to_its_mark
            a_mark_never_moves_back
        }
        $crate::contract_tests! { @aggregate $make, units:
            a_commit_is_seen_by_the_next_reader
            a_roll_back_leaves_nothing
            a_failed_unit_harms_no_neighbour
            a_panicking_unit_is_rolled_back
            a_reader_sees_one_state
            a_reader_cannot_write
            writers_see_each_other_one_after_the_other
            every_unit_gets_one_result
        }
    };
    (@batches $make:ident, [$($module:ident: $kind:ident),*] $cases:tt) => {
        $($crate::contract_tests! { @batch $make, $module: $kind $cases })*
    };
    (@batch $make:ident, $module:ident: $kind:ident { $($case:ident)* }) => {
        mod $module {
            $(#[test]
            fn $case() {
                $crate::contract::card_batches::$case::<$crate::contract::card_batches::$kind>(&super::$make());
            })*
        }
    };
    (@aggregate $make:ident, $aggregate:ident: $($case:ident)*) => {
        mod $aggregate {
            $(#[test]
            fn $case() {
                $crate::contract::$aggregate::$case(&super::$make());
            })*
        }
    };
}

#[cfg(test)]
mod tests {
    /// Each file of the suite, to hold the list of the macro against.
    const FILES: &[(&str, &str)] = &[
        ("partners", include_str!("contract/partners.rs")),
        ("sessions", include_str!("contract/sessions.rs")),
        ("users", include_str!("contract/users.rs")),
        ("throttle", include_str!("contract/throttle.rs")),
        ("idempotency", include_str!("contract/idempotency.rs")),
        ("sealed_nonces", include_str!("contract/sealed_nonces.rs")),
        ("employees", include_str!("contract/employees.rs")),
        ("categories", include_str!("contract/categories.rs")),
        ("cards", include_str!("contract/cards.rs")),
        ("transactions", include_str!("contract/transactions.rs")),
        ("orders", include_str!("contract/orders.rs")),
        ("ledger", include_str!("contract/ledger.rs")),
        ("reconciliation", include_str!("contract/reconciliation.rs")),
        ("programmes", include_str!("contract/programmes.rs")),
        ("runs", include_str!("contract/runs.rs")),
        ("leavers", include_str!("contract/leavers.rs")),
        ("pending_deposits", include_str!("contract/pending_deposits.rs")),
        ("jobs", include_str!("contract/jobs.rs")),
        ("request_log", include_str!("contract/request_log.rs")),
        ("audit", include_str!("contract/audit.rs")),
        ("units", include_str!("contract/units.rs")),
    ];

    /// No case may be left out of the macro.
    #[test]
    fn every_case_is_listed() {
        for (aggregate, text) in FILES {
            assert_eq!(listed(&format!("$make, {aggregate}:")), written(text, '('), "{aggregate}");
        }
        let batches = include_str!("contract/card_batches.rs");
        let generic = listed("withdrawals: Withdrawals\n        ] {");
        let filters = include_str!("contract/card_batches/filters.rs");
        let cases = [written(batches, '<'), written(filters, '<')].concat();
        assert_eq!(generic, cases, "for each kind of batch");
        let particular = include_str!("contract/card_batches/particular.rs");
        assert_eq!(listed("$make, card_batches:"), written(particular, '('), "card_batches");
    }

    /// The cases that the macro lists after `head`.
    fn listed(head: &str) -> Vec<&'static str> {
        let (_, rest) = include_str!("contract.rs").split_once(head).unwrap();
        rest.split_once('}').unwrap().0.split_whitespace().collect()
    }

    /// The public functions of a file whose names end at `end`.
    fn written(text: &str, end: char) -> Vec<&str> {
        let functions = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
        let names = functions.filter_map(|function| {
            let at = function.find(['(', '<'])?;
            function[at..].starts_with(end).then_some(&function[..at])
        });
        names.collect()
    }
}
