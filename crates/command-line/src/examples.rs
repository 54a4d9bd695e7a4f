//! Examples below the help of commands. A test of the binary reads each of them as a command line.

pub(crate) const LOGIN: &str = "\
Examples:
  kopeck call login --profile demo --stdin < kopeck-data/demo-partner.json
  kopeck call login --base-url https://api.example.com";
pub(crate) const EMPLOYEES_ADD: &str = "\
Examples:
  kopeck call employees add T-0001 --surname Petrova --name Anna --phone 9031234567";
pub(crate) const EMPLOYEES_IMPORT: &str = "\
Examples:
  kopeck call employees import staff.csv --dry-run
  kopeck call employees import staff.csv --create-categories";
pub(crate) const ORDERS_VIRTUAL: &str = "\
Examples:
  kopeck call orders virtual 20x500.00 --wait
  kopeck call orders virtual 20x500.00 5x1000.00 --json";
pub(crate) const ORDERS_PLASTIC: &str = "\
Examples:
  kopeck call orders plastic 100xMP4 --address Moscow --recipient Petrova --phone 9031234567";
pub(crate) const TOP_UP: &str = "\
Examples:
  kopeck call topup create 8747859702=150.00 6351762083=150.00 --wait
  kopeck call topup create --from-csv payroll.csv --wait=10m";
pub(crate) const CLOSINGS: &str = "\
Examples:
  kopeck call closings create 8747859702=stolen --wait
  kopeck call closings create 8747859702=leaver 6351762083=damaged";
pub(crate) const WITHDRAWALS: &str = "\
Examples:
  kopeck call withdrawals create 8747859702=150.00 6351762083=all --wait";
pub(crate) const CARDS_LINK: &str = "\
Examples:
  kopeck call cards link T-0001 8747859702";
pub(crate) const LIMITS_SET: &str = "\
Examples:
  kopeck call limits set 8747859702 --amount 500.00 --period day --days 1-5 --times 08:00-20:00
  kopeck call limits set 8747859702 --only-at 5811-5814,5411
  kopeck call limits set 8747859702 --unlimited";
pub(crate) const REPORT: &str = "\
Examples:
  kopeck call report show 2026-01
  kopeck call report show 2026-01 --format xlsx --lang ru --output 2026-01.xlsx
  kopeck call report close 2026-01";

pub(crate) const STATEMENT: &str = "\
Examples:
  kopeck call statement 2026-01
  kopeck call statement 2026-01 --format xlsx --output 2026-01.xlsx";
pub(crate) const RUNS_CREATE: &str = "\
Examples:
  kopeck call runs create march.csv --kind TOP_UP --reference meals-March
  kopeck call runs create staff.xlsx --kind EMPLOYEES --create-categories --submit";

pub(crate) const PROGRAMMES_CREATE: &str = "\
Examples:
  kopeck call programmes create --name Meals --every MONTH --day 5 --shift BEFORE --up-to 5000.00
  kopeck call programmes create --name Lunches --every WEEK --day 1 --fixed 1500.00 --cap 3000.00 --reference 'lunch-{period}'
  kopeck call programmes create meals.json";

pub(crate) const PROGRAMMES_FORECAST: &str = "\
Examples:
  kopeck call programmes forecast --until 31.12.2026";
pub(crate) const PROGRAMMES_PREVIEW: &str = "\
Examples:
  kopeck call programmes preview --name Meals --every MONTH --day 5 --up-to 5000.00
  kopeck call programmes preview meals.json --instead-of 0198c2a0-0000-7000-8000-000000000001";
