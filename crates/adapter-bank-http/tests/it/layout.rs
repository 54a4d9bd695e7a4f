//! JSON for a reader.

use std::collections::BTreeSet;

/// Columns up to which JSON stays on one line.
const WIDTH: usize = 112;

/// On one line where it fits, else a line for each of its parts. The order is the server's.
pub fn layout(json: &str, margin: usize) -> String {
    let flat = spaced(json);
    let mut characters = json.chars();
    let (Some(open @ ('{' | '[')), Some(close)) = (characters.next(), characters.next_back()) else {
        return flat;
    };
    if margin + flat.chars().count() <= WIDTH {
        return flat;
    }
    let part = |part: &str| match part.split_once("\":").filter(|_| open == '{') {
        Some((name, value)) => format!("{:1$}{name}\": {2}", "", margin + 2, layout(value, margin + 2)),
        None => format!("{:1$}{2}", "", margin + 2, layout(part, margin + 2)),
    };
    let parts: Vec<String> = parts(characters.as_str()).into_iter().map(part).collect();
    format!("{open}\n{}\n{:margin$}{close}", parts.join(",\n"), "")
}

/// The items of a list or object, without its brackets.
fn parts(inside: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (place, character) in outside_texts(inside) {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[from..place]);
                from = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    parts
}

/// With a blank behind each comma and colon.
fn spaced(json: &str) -> String {
    let signs: BTreeSet<usize> =
        outside_texts(json).filter(|(_, sign)| matches!(sign, ',' | ':')).map(|(place, _)| place).collect();
    let spaced = |(place, character)| [Some(character), signs.contains(&place).then_some(' ')];
    json.char_indices().flat_map(spaced).flatten().collect()
}

/// The characters of a JSON text that are not within its texts.
fn outside_texts(json: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut within, mut escaped) = (false, false);
    json.char_indices().filter(move |(_, character)| {
        match character {
            _ if escaped => escaped = false,
            '\\' if within => escaped = true,
            '"' => within = !within,
            _ => {}
        }
        !within
    })
}
