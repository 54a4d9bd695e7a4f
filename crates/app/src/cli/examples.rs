//! Examples below the help of commands. A test reads each of them as a command line.

pub(super) const SERVE: &str = "\
Examples:
  kopeck serve
  kopeck serve --listen 0.0.0.0:8080 --operations-listen 127.0.0.1:9464 --sandbox false
  KOPECK_DATABASE_URL=postgres://kopeck@/kopeck?host=/run/postgresql kopeck serve --no-workers";
pub(super) const BANK_SIMULATOR: &str = "\
Examples:
  KOPECK_BANK_SECRET=secret kopeck bank-simulator --listen 127.0.0.1:8090";
pub(super) const BANK_CHECK: &str = "\
Examples:
  kopeck bank-check --list
  kopeck bank-check http://127.0.0.1:8090 --bank-secret-file bank.secret --test-account
  kopeck bank-check http://127.0.0.1:8090 --bank-secret-file bank.secret --test-account --only 11,30-35 --json
  kopeck bank-check http://127.0.0.1:8090 --bank-secret-file bank.secret --test-account --storm 10m --seed 7";
pub(super) const MIGRATE: &str = "\
Examples:
  kopeck migrate
  kopeck migrate --service-role kopeck_service";
pub(super) const STATEMENT: &str = "\
Examples:
  kopeck statement 01980000-0000-7000-0000-000000000001 --month 2026-01
  kopeck statement 01980000-0000-7000-0000-000000000001 --month 2026-01 --format xlsx --output 2026-01.xlsx";
pub(super) const REPORT: &str = "\
Examples:
  kopeck report 01980000-0000-7000-0000-000000000001 --month 2026-01
  kopeck report 01980000-0000-7000-0000-000000000001 --month 2026-01 --format xlsx --lang ru --output 2026-01.xlsx";
pub(super) const COMPLETION: &str = "\
Examples:
  kopeck completion bash > ~/.local/share/bash-completion/completions/kopeck";
pub(super) const CHECK: &str = "\
Examples:
  kopeck check
  kopeck check --database-url sqlite:///backup/kopeck.sqlite
  kopeck check --accept-history";
pub(super) const RECONCILE: &str = "\
Examples:
  kopeck reconcile --from 01.03.2026 --to 31.03.2026
  kopeck reconcile --from 02.03.2026 --to 02.03.2026 --json";
pub(super) const SETTLE: &str = "\
Examples:
  kopeck requests settle 0198c2a4-7d3e-7f00-8000-000000000001 --as applied";
pub(super) const PARTNER_CREATE: &str = "\
Examples:
  kopeck partner create --name Acme --deposit 1000000.00
  kopeck partner create --name Acme --sealing optional --json";
pub(super) const PARTNER_LIST: &str = "\
Examples:
  kopeck partner list
  kopeck partner list --json";
pub(super) const PARTNER_SHOW: &str = "\
Examples:
  kopeck partner show 0198c2a4-7d3e-7f00-8000-000000000001
  kopeck partner show 0198c2a4-7d3e-7f00-8000-000000000001 --json";
pub(super) const PARTNER_SET_POLICY: &str = "\
Examples:
  kopeck partner set-policy 0198c2a4-7d3e-7f00-8000-000000000001 required";
pub(super) const PARTNER_SUSPEND: &str = "\
Examples:
  kopeck partner suspend 0198c2a4-7d3e-7f00-8000-000000000001
  kopeck partner suspend 0198c2a4-7d3e-7f00-8000-000000000001 --yes";
pub(super) const PARTNER_RENAME: &str = "\
Examples:
  kopeck partner rename 0198c2a4-7d3e-7f00-8000-000000000001 Bakery";
pub(super) const PARTNER_CLOSE: &str = "\
Examples:
  kopeck partner close 0198c2a4-7d3e-7f00-8000-000000000001 --reference wire-4713";
pub(super) const PARTNER_DELETE: &str = "\
Examples:
  kopeck partner delete 0198c2a4-7d3e-7f00-8000-000000000001
  kopeck partner delete 0198c2a4-7d3e-7f00-8000-000000000001 --retention 3653d --yes";
pub(super) const PARTNER_DEPOSIT: &str = "\
Examples:
  kopeck partner deposit 0198c2a4-7d3e-7f00-8000-000000000001 500000.00 --reference wire-4711";
pub(super) const PARTNER_REVERSE_DEPOSIT: &str = "\
Examples:
  kopeck partner reverse-deposit 0198c2a4-7d3e-7f00-8000-000000000001 wire-4711 --reason wrong-partner";
pub(super) const PARTNER_WITHDRAW: &str = "\
Examples:
  kopeck partner withdraw 0198c2a4-7d3e-7f00-8000-000000000001 500000.00 --reference wire-4712";
pub(super) const PARTNER_SET_THRESHOLD: &str = "\
Examples:
  kopeck partner set-threshold 0198c2a4-7d3e-7f00-8000-000000000001 500000.00
  kopeck partner set-threshold 0198c2a4-7d3e-7f00-8000-000000000001 0.00";
pub(super) const PARTNER_SET_APPROVAL: &str = "\
Examples:
  kopeck partner set-approval 0198c2a4-7d3e-7f00-8000-000000000001 1000000.00
  kopeck partner set-approval 0198c2a4-7d3e-7f00-8000-000000000001 0.00";
pub(super) const ROTATE_API_KEY: &str = "\
Examples:
  kopeck partner rotate-api-key 0198c2a4-7d3e-7f00-8000-000000000001
  kopeck partner rotate-api-key 0198c2a4-7d3e-7f00-8000-000000000001 --at-once --json";
pub(super) const USER_CREATE: &str = "\
Examples:
  kopeck user create --partner 0198c2a4-7d3e-7f00-8000-000000000001 --role OWNER --login anna@example.ru
  kopeck user create --role OPERATOR --login duty@example.ru --json";
pub(super) const USER_LIST: &str = "\
Examples:
  kopeck user list
  kopeck user list --partner 0198c2a4-7d3e-7f00-8000-000000000001 --json";
pub(super) const USER_RESET: &str = "\
Examples:
  kopeck user reset anna@example.ru
  kopeck user reset anna@example.ru --second-factor";
pub(super) const USER_DISABLE: &str = "\
Examples:
  kopeck user disable anna@example.ru";
pub(super) const USER_SET_ROLE: &str = "\
Examples:
  kopeck user set-role anna@example.ru AUDITOR";
pub(super) const USER_DELETE: &str = "\
Examples:
  kopeck user delete anna@example.ru --yes";
pub(super) const CREDENTIAL_CREATE: &str = "\
Examples:
  kopeck partner credential create 0198c2a4-7d3e-7f00-8000-000000000001 --scopes statements:read,events:read --name reports
  kopeck partner credential create 0198c2a4-7d3e-7f00-8000-000000000001 --scopes replenishments:write --addresses 192.0.2.0/24 --json";
pub(super) const CREDENTIAL_LIST: &str = "\
Examples:
  kopeck partner credential list 0198c2a4-7d3e-7f00-8000-000000000001
  kopeck partner credential list 0198c2a4-7d3e-7f00-8000-000000000001 --json";
pub(super) const CREDENTIAL_REVOKE: &str = "\
Examples:
  kopeck partner credential revoke 0198c2a4-7d3e-7f00-8000-000000000001 0198c2a4-7d3e-7f00-8000-000000000002";
pub(super) const AUDIT_LIST: &str = "\
Examples:
  kopeck audit list --since 02.03.2026 --outcome refused
  kopeck audit list --partner 0198c2a4-7d3e-7f00-8000-000000000001 --json";
pub(super) const AUDIT_VERIFY: &str = "\
Examples:
  kopeck audit verify --heads /var/lib/kopeck-heads/heads.txt --require-signatures";
pub(super) const AUDIT_PRUNE: &str = "\
Examples:
  kopeck audit prune --before 2023-01-01";
