//! A reader who does what a chapter says.

use std::fmt::Write as _;
use std::path::Path;

use kopeck_domain::partner::SealingPolicy;
use kopeck_port_store::{Access, StoreError, transact};
use serde_json::json;
use time::Duration;

use super::page::{Block, BlockKind, Piece, fits, pieces};
use super::terminal::{Checkout, Server, Terminal};
use crate::layout::layout;
use crate::names::Names;
use crate::process::MASTER_KEY;
use crate::server::TestServer;

/// The address of the service in the book.
const ADDRESS: &str = "http://127.0.0.1:8080";
/// The balance of the demo partner.
const DEPOSIT: i64 = 100_000_000;

/// The service of a chapter.
enum World {
    /// The real one, started by the chapter itself, with clocks that go.
    Process { _server: Server, address: String },
    /// One within the test, on a clock that stands still until the chapter moves it.
    Stage(Box<TestServer>),
}

/// Plays a chapter; answers it with what was really seen.
pub fn play(page: &str, tools: &[String]) -> String {
    let pieces = pieces(page);
    let checkout = Checkout::new();
    let mut played = String::new();
    let own = |piece: &Piece<'_>| matches!(piece, Piece::Block(block) if block.kind() == BlockKind::Server);
    let Some(place) = pieces.iter().position(own) else {
        let mut player = Player::on_a_stage(&checkout);
        player.play(&pieces, tools, &mut played);
        return played;
    };
    let mut player = Player::with_a_process(&checkout, &pieces[place..]);
    player.play(&pieces, tools, &mut played);
    played
}

struct Player {
    world: World,
    terminal: Terminal,
    names: Names,
}

impl Player {
    /// The chapter finds what the first one leaves behind: variables, and the profile `demo`. Without the sealing key, as
    /// sealing uses the machine's clock.
    fn on_a_stage(checkout: &Checkout) -> Self {
        let server = TestServer::start();
        let partner = server.partner(SealingPolicy::Optional, DEPOSIT);
        let environment = [
            ("KOPECK_URL", server.base_url.as_str()),
            ("KOPECK_API_KEY", &partner.api_key),
            ("KOPECK_LOGIN", &partner.login),
            ("KOPECK_PASSWORD", &partner.password),
            // For the operator's commands.
            ("KOPECK_DATABASE_URL", server.database_url()),
            ("KOPECK_MASTER_KEY", MASTER_KEY),
        ];
        let mut terminal = Terminal::open(checkout, &environment);
        let (api_key, password) = (&partner.api_key, &partner.password);
        let profile = json!({"baseUrl": server.base_url, "apiKey": api_key, "login": partner.login, "password": password});
        let login = format!(
            "export PATH=$PWD/target/release:$PATH; echo '{profile}' | kopeck call login --profile demo --stdin"
        );
        let said = terminal.paste(&login, || ());
        assert!(said.ends_with("the current profile"), "{said}");
        Self { world: World::Stage(Box::new(server)), terminal, names: Names::default() }
    }

    /// From the block that starts the server on.
    fn with_a_process(checkout: &Checkout, pieces: &[Piece<'_>]) -> Self {
        let [Piece::Block(start), Piece::Prose("\n"), Piece::Block(shown), ..] = pieces else {
            panic!("behind the start of a server stands what it says");
        };
        let server = Server::start(checkout, start.text);
        let certain = shown.text.lines().take_while(|line| *line != "…").count();
        let said = server.says(certain);
        let address = said.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
        let mut names = Names::default();
        names.learn(shown.text.lines().take(certain).collect::<Vec<_>>().join("\n").as_str(), &said);
        let same = fits(shown.text, &names.as_on_the_page(&said).replace(&address, ADDRESS));
        assert!(same, "the server says\n{said}\nand not\n{}", shown.text);
        let terminal = Terminal::open(checkout, &[]);
        Self { world: World::Process { _server: server, address }, terminal, names }
    }

    fn play(&mut self, pieces: &[Piece<'_>], tools: &[String], played: &mut String) {
        let mut pieces = pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let block = match piece {
                Piece::Prose(prose) => {
                    prose.lines().for_each(|line| self.direct(line));
                    played.push_str(prose);
                    continue;
                }
                Piece::Block(block) => block,
            };
            block.write(played);
            match block.kind() {
                BlockKind::Picture => {}
                BlockKind::File(path) => stands_in(block, Path::new(path)),
                BlockKind::Output => panic!("what prints this?\n{}", block.text),
                // It runs; see `with_a_process`.
                BlockKind::Server => copy_output(&mut pieces, played),
                BlockKind::Paste(needs) if needs.iter().any(|tool| !tools.iter().any(|has| has == tool)) => {
                    copy_output(&mut pieces, played);
                }
                BlockKind::Paste(_) => {
                    let printed = self.paste(block.text);
                    self.show(printed, &mut pieces, played);
                }
            }
        }
        if let World::Stage(server) = &self.world {
            // The work that is left.
            server.run_jobs();
        }
    }

    /// Puts what was printed where the page shows it, in the page's words if they say the same.
    fn show<'a>(
        &mut self,
        printed: String,
        pieces: &mut std::iter::Peekable<impl Iterator<Item = &'a Piece<'a>> + Clone>,
        played: &mut String,
    ) {
        match output_behind(pieces) {
            Some(shown) => {
                self.names.learn(shown.text, &printed);
                let printed = self.names.as_on_the_page(&printed);
                let same = fits(&self.masked(shown.text), &self.masked(&printed));
                let text = if same { shown.text } else { &printed };
                played.push('\n');
                Block { info: shown.info, text }.write(played);
            }
            None if printed.is_empty() => {}
            None => {
                played.push('\n');
                Block { info: "text", text: &printed }.write(played);
            }
        }
    }

    /// Does what an HTML comment says: `<!-- work -->` what is due three seconds later, `<!-- accounts -->` the daily
    /// refresh of accounts, `<!-- bank -->` tells the bank of blocks and reads its feed, `<!-- advance SECONDS -->`.
    fn direct(&self, line: &str) {
        let Some(words) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) else {
            return;
        };
        let World::Stage(server) = &self.world else {
            panic!("the clock of a real service cannot be moved: {line}");
        };
        match words.split(' ').collect::<Vec<_>>()[..] {
            ["work"] => server.run_jobs(),
            ["payday"] => server.pay(),
            ["accounts"] => server.refresh_accounts(),
            ["bank"] => {
                server.send_blocks();
                server.follow_feed();
            }
            ["advance", seconds] => server.clock.advance(Duration::seconds(seconds.parse().unwrap())),
            _ => panic!("no direction: {line}"),
        }
    }

    fn paste(&mut self, script: &str) -> String {
        let script = self.names.in_this_play(&script.replace(ADDRESS, self.address()));
        // Work that a script waits for is done as soon as it polls.
        let waits = script.contains("--wait") || script.contains("poll ");
        let world = &self.world;
        let printed = self.terminal.paste(&script, || {
            if let World::Stage(server) = world
                && waits
                && pending(server) > 0
            {
                server.run_jobs();
            }
        });
        let printed = printed.replace(env!("CARGO_BIN_EXE_kopeck"), "target/release/kopeck");
        let printed = printed.replace(self.address(), ADDRESS);
        let json = |line: &str| {
            line.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(line).is_ok()
        };
        let line = |line: &str| if json(line) { layout(line, 0) } else { line.trim_end().to_owned() };
        printed.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    fn address(&self) -> &str {
        match &self.world {
            World::Process { address, .. } => address,
            World::Stage(server) => &server.base_url,
        }
    }

    /// With the day and the time left open, where they are those of the reader.
    fn masked(&self, text: &str) -> String {
        if matches!(self.world, World::Stage(_)) {
            return text.to_owned();
        }
        let part = |character: char| character.is_ascii_digit() || matches!(character, '.' | ':');
        let mask = |word: &str| {
            let (number, behind) = word.split_at(word.rfind(part).map_or(0, |place| place + 1));
            let shape: String =
                number.chars().map(|sign| if sign.is_ascii_digit() { '0' } else { sign }).collect();
            let moment = matches!(shape.as_str(), "00.00.0000" | "00:00" | "0000000000");
            if moment { shape + behind } else { word.to_owned() }
        };
        text.split_inclusive(|character| !part(character)).map(mask).collect()
    }
}

/// The output behind a paste, which is taken from the pieces.
fn output_behind<'a>(
    pieces: &mut std::iter::Peekable<impl Iterator<Item = &'a Piece<'a>> + Clone>,
) -> Option<&'a Block<'a>> {
    let mut ahead = pieces.clone();
    let (Some(Piece::Prose("\n")), Some(Piece::Block(block))) = (ahead.next(), ahead.next()) else {
        return None;
    };
    (block.kind() == BlockKind::Output).then(|| {
        *pieces = ahead;
        block
    })
}

/// Leaves what the page shows as it is.
fn copy_output<'a>(
    pieces: &mut std::iter::Peekable<impl Iterator<Item = &'a Piece<'a>> + Clone>,
    played: &mut String,
) {
    if let Some(block) = output_behind(pieces) {
        writeln!(played).unwrap();
        block.write(played);
    }
}

fn stands_in(block: &Block<'_>, path: &Path) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.contains(block.text), "{} is another than\n{}", path.display(), block.text);
}

fn pending(server: &TestServer) -> u64 {
    let count =
        |unit: &mut dyn kopeck_port_store::UnitOfWork| -> Result<_, StoreError> { unit.jobs().count() };
    transact(&*server.application.store, Access::Read, count).unwrap()
}
