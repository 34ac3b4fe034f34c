//! `tenbin compare`: two stored runs side by side, and what it says to names that cannot be compared.

use crate::support::{Home, built_in, url};

#[test]
fn two_runs_stand_side_by_side() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    for _ in 0..2 {
        let output = home.run(&[url.as_str(), "-n", "200", "-c", "2"]);
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    let ids: Vec<String> =
        home.history().iter().map(|run| run["id"].as_str().unwrap_or_default().to_owned()).collect();
    let [newer, older] = &ids[..] else { panic!("{:?}", home.history()) };
    let object = home.json(&["compare", older, newer]);
    assert_eq!((&object["kind"], &object["verdict"]), (&"runs".into(), &"none".into()), "{object}");
    assert_eq!((&object["a"]["id"], &object["b"]["id"]), (&older.as_str().into(), &newer.as_str().into()));
    let text = home.run(&["compare", older, "last"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stdout.contains("B ÷ A") && text.stdout.contains("gives no verdict"), "{text:?}");
    let other = home.run(&[url.as_str(), "-n", "100", "-c", "1"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    let refused = home.run(&["compare", older, "last"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(
        refused.stderr.contains("under different loads") && refused.stderr.contains("help: "),
        "{refused:?}"
    );
    for (arguments, says) in [
        (["compare", older, older], "both names mean"),
        (["compare", older, "s-1"], "only two of a kind"),
        (["compare", "s-1", "s-2"], "s-1"),
        (["compare", "no-such-run", older], "no-such-run"),
    ] {
        let refused = home.run(&arguments);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.stderr.contains(says), "{refused:?}");
    }
    let page = home.run(&["compare", older, newer, "--format", "html", "-o", "page.html"]);
    assert_eq!(page.code, Some(2), "{page:?}");
    assert!(page.stderr.contains("write terminal, json or md"), "{page:?}");
}

#[test]
fn an_empty_file_is_left_alone_and_the_help_names_the_formats_there_are() {
    let home = Home::new();
    let path = home.path().join("other.sqlite");
    std::fs::write(&path, "").expect("written");
    let named = path.to_string_lossy().into_owned();
    let refused = home.run(&["compare", &named, &named]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("is not a Tenbin store"), "{refused:?}");
    assert_eq!(std::fs::read(&path).expect("read"), b"");
    let help = home.run(&["compare", "--help"]).stdout;
    assert!(help.contains("terminal, json or md") && !help.contains("html"), "{help}");
}
