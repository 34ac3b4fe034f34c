//! Texts of systems, plans, and peers stay text on the page, and change nothing outside of the document.

use crate::pages;
use crate::runs;
use crate::studies;

const ATTACKS: &[&str] = &[
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "--></title></style></noscript><img src=x onerror=alert(1)>",
    "\u{2028}\u{2029}",
    "{{script}} {{report}} {{policy}} }} {{",
    "\"'&lt;&#39; onload=alert(1) x=\"",
    "\u{0}\u{1b}[31m\u{202e}\u{feff}\u{7f}",
];

fn attacked(attack: &str) -> [String; 3] {
    let run = runs::hostile(attack);
    [
        pages::of_runs(std::slice::from_ref(&run)),
        pages::of_runs(&[run.clone(), run]),
        pages::of_study(&studies::hostile(attack)),
    ]
}

/// The page without document, title, and the text for browsers without scripts.
fn frame(page: &str) -> String {
    let without_script = pages::between(page, "<noscript>", "</noscript>");
    let title = pages::between(page, "<title>", "</title>");
    page.replace(pages::document_text(page), "").replace(title, "").replace(without_script, "")
}

#[test]
fn frame_does_not_depend_on_texts() {
    let plain = frame(&pages::of_runs(&[runs::normal()]));
    for attack in ATTACKS {
        for page in attacked(attack) {
            assert!(frame(&page) == plain, "{attack:?} gets out");
        }
    }
}

#[test]
fn texts_are_no_markup() {
    for attack in ATTACKS {
        for page in attacked(attack) {
            for part in [
                pages::document_text(&page),
                pages::between(&page, "<title>", "</title>"),
                pages::between(&page, "<noscript>", "</noscript>"),
            ] {
                let acts = |character: char| {
                    let is_sign = matches!(character, '<' | '>' | '\u{2028}'..='\u{202e}' | '\u{feff}');
                    is_sign || character.is_control()
                };
                let found = part
                    .find(acts)
                    .map(|at| String::from_utf8_lossy(&part.as_bytes()[at.saturating_sub(99)..=at]));
                assert_eq!(found, None, "{attack:?}");
            }
            assert_eq!(page.matches("<script").count(), 2, "{attack:?}");
            assert_eq!(page.matches("</script").count(), 2, "{attack:?}");
            assert!(pages::document(&page).is_object(), "{attack:?}");
        }
    }
}

#[test]
fn texts_are_kept_in_visible_form() {
    for attack in ATTACKS {
        let [run, _, study] = attacked(attack);
        let seen = report::visible(attack);
        assert_eq!(pages::document(&run)["title"], seen.as_str());
        let study = pages::document(&study);
        assert_eq!([&study["title"], &study["question"], &study["plan"]], [seen.as_str(); 3]);
        let row = study["loads"][0]["rows"][0]["system"].as_str().unwrap();
        assert!(row.ends_with(&seen) || row.ends_with('…'), "{row}");
    }
}

#[test]
fn long_texts_are_cut() {
    let long = "x".repeat(500_000);
    let bytes = |page: &str| pages::document_text(page).len();
    assert!(bytes(&pages::of_runs(&[runs::hostile(&long)])) < 60_000);
    assert!(bytes(&pages::of_study(&studies::hostile(&long))) < 400_000, "most of it is the plan");
}
