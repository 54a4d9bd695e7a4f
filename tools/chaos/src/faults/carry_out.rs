//! How each fault is done and undone.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kopeck_port_bank::sandbox::BankFaults;
use tokio::time::Instant;

use super::PlannedFault;
use crate::bank;
use crate::fault_kind::FaultKind;
use crate::fleet::{Fleet, Role};
use crate::journal::Journal;
use crate::receiver::Behaviour;
use kopeck_test_support::Proxy;

/// Waits for the time of a fault, does it, and undoes it.
pub(crate) async fn carry_out(
    planned: PlannedFault,
    start: Instant,
    fleet: Arc<Fleet>,
    journal: Arc<Journal>,
) -> anyhow::Result<()> {
    tokio::time::sleep_until(start + planned.at).await;
    let role = planned.role.map(|role| format!(" ({role})")).unwrap_or_default();
    let (at, lasts) = (planned.at.as_secs_f64(), planned.lasts.as_secs_f64());
    println!("{at:7.1} s  {}{role}, for {lasts:.1} s", planned.kind);
    journal.fault(planned.kind);
    strike(&planned, &fleet, &journal).await.with_context(|| planned.kind.to_string())
}

async fn strike(planned: &PlannedFault, fleet: &Fleet, journal: &Journal) -> anyhow::Result<()> {
    let lasts = planned.lasts;
    match planned.kind {
        FaultKind::KillApi | FaultKind::KillWorker | FaultKind::KillBank => {
            kill(planned.role.context("no process to kill")?, lasts, fleet, journal).await
        }
        FaultKind::StopApi | FaultKind::StopWorker => {
            let process = fleet.process(planned.role.context("no process to stop")?).await?;
            process.signal("STOP").await?;
            tokio::time::sleep(lasts).await;
            process.signal("CONT").await
        }
        FaultKind::CrashDatabase => fleet.cluster.as_ref().context("no cluster")?.crash(lasts).await,
        FaultKind::CutDatabase => {
            fleet.to_database.as_ref().context("no way to a database")?.cut();
            Ok(())
        }
        FaultKind::BlockDatabase => {
            block(fleet.to_database.as_ref().context("no way to a database")?, lasts).await;
            Ok(())
        }
        FaultKind::CutBank => {
            fleet.to_bank.cut();
            Ok(())
        }
        FaultKind::BlockBank => {
            block(&fleet.to_bank, lasts).await;
            Ok(())
        }
        FaultKind::CutPartners => {
            fleet.to_apis.iter().for_each(Proxy::cut);
            Ok(())
        }
        FaultKind::BankDown
        | FaultKind::BankSlow
        | FaultKind::BankFails
        | FaultKind::BankMute
        | FaultKind::BankDoubles => {
            // No other fault touches the bank meanwhile.
            let _bank = fleet.process(Role::Bank).await?;
            bank::behave(fleet, bank_faults(planned.kind, planned.percent)).await?;
            tokio::time::sleep(lasts).await;
            bank::behave(fleet, BankFaults::default()).await
        }
        FaultKind::ReceiverDown | FaultKind::ReceiverSlow | FaultKind::ReceiverMute => {
            fleet.receiver.behave(of_receiver(planned.kind, planned.percent));
            tokio::time::sleep(lasts).await;
            fleet.receiver.behave(Behaviour::Works);
            Ok(())
        }
    }
}

async fn kill(role: Role, lasts: Duration, fleet: &Fleet, journal: &Journal) -> anyhow::Result<()> {
    let mut process = fleet.process(role).await?;
    process.kill().await?;
    journal.killed(role);
    tokio::time::sleep(lasts).await;
    fleet.start_one(role, &mut process).await
}

async fn block(proxy: &Proxy, lasts: Duration) {
    proxy.freeze();
    tokio::time::sleep(lasts).await;
    proxy.thaw();
}

fn of_receiver(kind: FaultKind, percent: u64) -> Behaviour {
    match kind {
        FaultKind::ReceiverDown => Behaviour::Down,
        // 3 to 15 s; the service gives up after 10 s.
        FaultKind::ReceiverSlow => Behaviour::Slow(Duration::from_millis(percent * 300)),
        FaultKind::ReceiverMute => Behaviour::LosesResponses,
        _ => Behaviour::Works,
    }
}

fn bank_faults(kind: FaultKind, percent: u64) -> BankFaults {
    // At most a half: a bank that never answers is another fault.
    let rate = f64::from(u32::try_from(percent.min(50)).unwrap_or(50)) / 100.0;
    let well = BankFaults::default();
    match kind {
        FaultKind::BankDown => BankFaults { down: true, ..well },
        FaultKind::BankSlow => BankFaults { latency: Duration::from_millis(percent * 30), ..well },
        FaultKind::BankFails => BankFaults { error_rate: rate, ..well },
        FaultKind::BankMute => BankFaults { lose_answer_rate: rate, ..well },
        FaultKind::BankDoubles => BankFaults { duplicate_rate: 1.0, lose_answer_rate: rate, ..well },
        _ => well,
    }
}
