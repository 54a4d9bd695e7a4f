//! A snapshot of the crate's public items: a change of the interface shows in the diff of `public-api.txt`.
//!
//! Items come from the source, since rustdoc's JSON is not stable. Enums that `serde_enum!` declares stand there as the
//! macro's argument. After a change on purpose: `just docs`, or
//! `UPDATE_DOCS=1 cargo test --workspace --locked --test it -- public_api`.

use std::path::Path;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, Visibility};

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/public-api.txt");

#[test]
fn the_public_items_are_those_of_the_snapshot() {
    let mut lines = Vec::new();
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    walk(&source.join("lib.rs"), source, "kopeck_domain", &mut lines);
    let found = lines.join("\n") + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(SNAPSHOT, &found).unwrap();
    }
    let expected = std::fs::read_to_string(SNAPSHOT).unwrap_or_default();
    let new: Vec<&str> = found.lines().filter(|line| !expected.lines().any(|known| known == *line)).collect();
    let gone: Vec<&str> =
        expected.lines().filter(|line| !found.lines().any(|known| known == *line)).collect();
    assert!(found == expected, "new: {new:#?}\ngone: {gone:#?}");
}

/// The items of a file, and of the modules that it declares. Private modules count: their items are exported again.
fn walk(file: &Path, folder: &Path, path: &str, lines: &mut Vec<String>) {
    let parsed = syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap();
    for item in parsed.items {
        match item {
            Item::Mod(module) if module.content.is_none() && !is_test(&module.attrs) => {
                let name = module.ident.to_string();
                let inner = format!("{path}::{name}");
                walk(&folder.join(format!("{name}.rs")), &folder.join(&name), &inner, lines);
            }
            Item::Impl(block) => {
                let of = block.self_ty.to_token_stream();
                if let Some((_, of_trait, _)) = &block.trait_ {
                    lines.push(format!("{path}: impl {} for {of}", of_trait.to_token_stream()));
                    continue;
                }
                for item in block.items {
                    match item {
                        ImplItem::Fn(function) if is_public(&function.vis) => {
                            lines.push(format!("{path}: {of}::{}", function.sig.to_token_stream()));
                        }
                        ImplItem::Const(value) if is_public(&value.vis) => {
                            lines.push(format!("{path}: {of}::const {}", value.ident));
                        }
                        _ => {}
                    }
                }
            }
            item => lines.extend(declared(item).map(|text| format!("{path}: {text}"))),
        }
    }
}

/// An item without its documentation, body and private fields, if it is public.
fn declared(item: Item) -> Option<String> {
    let text = match item {
        Item::Fn(function) if is_public(&function.vis) => function.sig.to_token_stream().to_string(),
        Item::Const(value) if is_public(&value.vis) => format!("const {}", value.ident),
        Item::Type(mut alias) if is_public(&alias.vis) => {
            alias.attrs.clear();
            alias.to_token_stream().to_string()
        }
        Item::Struct(item) if is_public(&item.vis) => {
            let fields = public_fields(&item.fields);
            format!("struct {}{} {{ {fields} }}", item.ident, item.generics.to_token_stream())
        }
        Item::Enum(mut item) if is_public(&item.vis) => {
            let exhaustive = if may_grow(&item.attrs) { "non_exhaustive " } else { "" };
            item.attrs.clear();
            for variant in &mut item.variants {
                variant.attrs.clear();
                variant.fields.iter_mut().for_each(|field| field.attrs.clear());
            }
            format!("{exhaustive}{}", item.to_token_stream())
        }
        Item::Trait(item) if is_public(&item.vis) => {
            let name = item.ident;
            let items = item.items.into_iter().map(|item| match item {
                syn::TraitItem::Type(associated) => format!("type {}", associated.ident),
                syn::TraitItem::Fn(function) => function.sig.to_token_stream().to_string(),
                other => other.to_token_stream().to_string(),
            });
            format!("trait {name} {{ {} }}", items.collect::<Vec<_>>().join("; "))
        }
        Item::Use(item) if is_public(&item.vis) => item.to_token_stream().to_string(),
        Item::Macro(item) if item.ident.is_none() => without_docs(item.mac.tokens).to_string(),
        _ => return None,
    };
    Some(text)
}

/// The argument of a macro without its documentation.
fn without_docs(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                let attribute = rest.next();
                if attribute.as_ref().is_some_and(|group| !group.to_string().starts_with("[doc")) {
                    kept.push(TokenTree::Punct(mark));
                    kept.extend(attribute);
                }
            }
            TokenTree::Group(group) => {
                kept.push(Group::new(group.delimiter(), without_docs(group.stream())).into());
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

fn public_fields(fields: &Fields) -> String {
    let public = fields.iter().filter(|field| is_public(&field.vis));
    let shown = public.map(|field| {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{name}: {}", field.ty.to_token_stream())
    });
    shown.collect::<Vec<_>>().join(", ")
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether it is `non_exhaustive`, be it without a feature alone.
fn may_grow(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().contains("non_exhaustive"))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().contains("test"))
}
