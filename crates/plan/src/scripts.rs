//! From flags to scripts: which are played, how often, with which variables, and how their statements travel.

use std::fs;
use std::path::Path;

use load::{Order, Scenario, Scenarios, ThinkTime, Visit};
use script::{Allow, Deck, Distribution, Language};
use sql::workload::{self, Style, Tables, Workload};
use sql::{Engine, Mode, Settings};

use crate::database::Database;
use crate::draft::{Draft, Played};
use crate::fault::Fault;
use crate::file::near;
use crate::plan::{Action, PlannedStep, SqlAction};
use crate::script_fault;
use crate::transactions::Transactions;
use crate::units;

const SCRIPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
const SCRIPTS_MAX: usize = 128;
const WEIGHT_MAX: u32 = 1_000_000;
const POOL_MAX: u64 = 1_000_000;
/// sysbench's own.
const PARETO_DEFAULT: f64 = 0.2;
const ZIPF_DEFAULT: f64 = 1.1;

/// Title, steps, scenarios and the rest of a load of SQL; its seed and its number of clients are not known here.
pub(crate) type Wanted = (String, Vec<PlannedStep>, Scenarios, Transactions);

pub(crate) fn read(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Wanted> {
    let database = Database::read(&draft.url).map_err(|wrong| faults.extend(wrong)).ok();
    let engine = database.as_ref().map_or(Engine::PostgreSql, |database| database.engine);
    let mut reader = Reader { draft, faults };
    let workloads = reader.workloads();
    let style = reader.style(&workloads);
    let (variables, rows) = reader.variables(&workloads);
    let scripts = reader.scripts(engine, style, rows);
    let (deck, texts) = reader.deck(&scripts);
    let mode = reader.mode(&workloads, &deck);
    let max_tries = reader.max_tries(&workloads);
    let distribution = reader.distribution(&workloads);
    let scale = reader.count("--scale", draft.scale.as_deref(), 1, 1_000_000).map(|scale| scale as i64);
    let pool = reader.count("--pool", draft.pool.as_deref(), 1, POOL_MAX).map(|pool| pool as u32);
    let limit = draft.latency_limit.as_deref().and_then(|text| units::duration_ns(text).ok());
    let database = database.filter(|_| reader.faults.is_empty())?;
    let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    let title = format!("{} on {}", names.join(", "), database.shown);
    let steps = scripts.iter().enumerate().map(|(number, script)| PlannedStep {
        name: script.name.clone(),
        action: Action::Sql(SqlAction { script: number as u16, expects: None, saves: Vec::new() }),
    });
    let mut retries: Vec<_> =
        workloads.iter().flat_map(|workload| workload.retries(engine)).copied().collect();
    retries.dedup();
    let is_pgbench = workloads.iter().any(|workload| workload.tables == Tables::Pgbench);
    let mut work = Transactions {
        database,
        deck,
        texts,
        settings: Settings {
            mode,
            max_tries,
            scale,
            variables,
            distribution,
            retries,
            ..Settings::default()
        },
        workloads: workloads.iter().map(|workload| workload.name).collect(),
        is_scale_asked: is_pgbench && scale.is_none(),
        pool,
        keep_alive: !draft.no_keepalive,
        checks_room: !draft.no_room_check,
        latency_limit_ns: limit,
    };
    work.deck.set_distribution(distribution);
    Some((title, steps.collect(), scenarios(&scripts), work))
}

/// The name of a built-in workload, or a fault with the nearest one.
pub fn known_workload(name: &str) -> Result<&'static str, Fault> {
    let known = || workload::WORKLOADS.iter().map(|workload| workload.name);
    workload::find(name).map(|workload| workload.name).ok_or_else(|| {
        let way_out = match near::nearest(name, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("write one of {}", known().collect::<Vec<_>>().join(", ")),
        };
        Fault::new("--workload", format!("there is no workload {name:?}"), way_out)
    })
}

/// A script that is played.
struct Chosen {
    name: String,
    text: Vec<u8>,
    language: Language,
    weight: u32,
}

/// One script is a scenario of its own; of several, each transaction is one of them, drawn by weight.
fn scenarios(scripts: &[Chosen]) -> Scenarios {
    if scripts.len() == 1 {
        return Scenarios::single();
    }
    let visits = scripts.iter().enumerate().map(|(number, script)| {
        (Visit { step: number as u16, think: ThinkTime::None }, f64::from(script.weight))
    });
    let order = Order::Mix(visits.collect());
    Scenarios { list: vec![Scenario { name: String::new(), share: 1.0, order }] }
}

struct Reader<'a> {
    draft: &'a Draft,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, place: &str, what: impl Into<String>, way_out: impl Into<String>) {
        self.faults.push(Fault::new(place, what, way_out));
    }

    fn count(&mut self, place: &str, text: Option<&str>, least: u64, most: u64) -> Option<u64> {
        match units::count(text?) {
            Ok(count) if (least..=most).contains(&count) => Some(count),
            Ok(count) => {
                let what = format!("{count} is not between {least} and {most}");
                self.fault(place, what, "choose a number between them");
                None
            }
            Err(what) => {
                self.fault(place, what, "correct the value");
                None
            }
        }
    }

    /// The built-in workloads that are played, each once.
    fn workloads(&mut self) -> Vec<&'static Workload> {
        let mut found: Vec<&'static Workload> = Vec::new();
        let mut seen = Vec::new();
        let draft = self.draft;
        for played in &draft.played {
            let Played::Workload(text) = played else { continue };
            let (whole, _) = weighted(text);
            if seen.contains(&whole) {
                let what = format!("{whole} is there twice");
                self.fault("--workload", what, "write it once, with a weight such as @3");
            }
            seen.push(whole);
            let (name, _) = styled(whole);
            match workload::find(name) {
                Some(one) if found.iter().any(|known| known.name == one.name) => {}
                Some(one) => found.push(one),
                None => self.faults.extend(known_workload(name).err()),
            }
        }
        found
    }

    fn style(&mut self, workloads: &[&Workload]) -> Style {
        let Some(text) = self.draft.style.as_deref() else { return Style::default() };
        let has_styles = workloads.iter().any(|workload| workload.styles.len() > 1);
        match style_named(text) {
            Ok(style) if has_styles => return style,
            Ok(_) => self.fault("--style", "nothing that is played has styles", "leave it out"),
            Err(way_out) => self.fault("--style", format!("{text:?} is not known"), way_out),
        }
        Style::default()
    }

    /// Variables of all clients, those of workloads that nobody gives included; and the number of rows of a batch.
    fn variables(&mut self, workloads: &[&Workload]) -> (Vec<(String, String)>, Option<u32>) {
        let draft = self.draft;
        let mut given: Vec<(String, String)> = Vec::new();
        for text in &draft.defines {
            match text.split_once('=') {
                Some((name, value)) if Deck::new().variable(name).is_some() => {
                    given.retain(|(known, _)| known != name);
                    given.push((name.to_owned(), value.to_owned()));
                }
                _ => {
                    // The value may be anybody's secret.
                    let name = text.split('=').next().unwrap_or_default();
                    let what = format!("{name:?} is not the name of a variable and its value");
                    self.fault("-D", what, "write -D name=value: letters, digits and _, no digit first");
                }
            }
        }
        let flags = [
            ("--tables", "tables", &draft.tables),
            ("--table-size", "table_size", &draft.table_size),
            ("--range-size", "range_size", &draft.range_size),
            ("--rows", "rows", &draft.rows),
        ];
        let mut rows = None;
        for (flag, name, text) in flags {
            let variable =
                workloads.iter().flat_map(|workload| workload.variables).find(|one| one.name == name);
            let Some(variable) = variable else {
                if text.is_some() {
                    let what = "nothing that is played has such a variable";
                    self.fault(
                        flag,
                        what,
                        format!("leave it out, or write -D {name}=… for a script of yours"),
                    );
                }
                continue;
            };
            let defined = given.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            let place = if text.is_some() { flag } else { "-D" };
            let text = text.clone().or(defined);
            let value = self.count(place, text.as_deref(), variable.least.into(), variable.most.into());
            let value = value.unwrap_or(variable.default.into());
            given.retain(|(known, _)| known != name);
            given.push((name.to_owned(), value.to_string()));
            if name == "rows" {
                rows = Some(value as u32);
            }
        }
        (given, rows)
    }

    /// Scripts in the order in which they were written; theirs are the numbers of steps.
    fn scripts(&mut self, engine: Engine, style: Style, rows: Option<u32>) -> Vec<Chosen> {
        let mut scripts: Vec<Chosen> = Vec::new();
        let draft = self.draft;
        for played in &draft.played {
            let (place, text) = match played {
                Played::File(text) => ("-f", text),
                Played::Workload(text) => ("--workload", text),
                Played::Text { name, text } => {
                    let (name, text) = (name.clone(), text.clone());
                    scripts.push(Chosen { name, text, language: Language::Extended, weight: 1 });
                    continue;
                }
            };
            let (name, weight) = weighted(text);
            let weight = match weight {
                None => Ok(1),
                Some(weight) => {
                    weight.parse::<u32>().ok().filter(|weight| *weight <= WEIGHT_MAX).ok_or(weight)
                }
            };
            let Ok(weight) = weight else {
                let what = format!("the weight of {name} is not a whole number up to {WEIGHT_MAX}");
                self.fault(place, what, format!("write {place} {name}@3"));
                continue;
            };
            let found = match played {
                Played::File(_) => {
                    script_in(Path::new(name)).map(|text| (file_name(name), text, Language::Pgbench))
                }
                Played::Workload(_) | Played::Text { .. } => {
                    let (base, own) = styled(name);
                    let own = match own.map(style_named) {
                        None => style,
                        Some(Ok(style)) => style,
                        Some(Err(way_out)) => {
                            self.fault(place, format!("{name} names no style"), way_out);
                            continue;
                        }
                    };
                    match workload::find(base).map(|one| one.script(engine, own, rows)) {
                        Some(Ok(text)) => Ok((name.to_owned(), text.into_bytes(), Language::Extended)),
                        Some(Err(what)) => Err(what),
                        None => continue,
                    }
                }
            };
            match found {
                Ok((name, text, language)) => {
                    let name = unlike(name, |name| scripts.iter().any(|script| script.name == name));
                    scripts.push(Chosen { name, text, language, weight });
                }
                Err(what) => self.fault(place, what, "name a script that can be read, or another workload"),
            }
        }
        if draft.played.is_empty() {
            let way_out =
                "add --workload NAME, such as select-only, or -f FILE with a script in pgbench's language";
            self.fault("SQL", "nothing says what a transaction is", way_out);
        } else if scripts.len() > SCRIPTS_MAX {
            self.fault("-f", format!("there are more than {SCRIPTS_MAX} scripts"), "use fewer");
        } else if !scripts.is_empty() && scripts.iter().all(|script| script.weight == 0) {
            self.fault("-f", "no script has a weight above 0", "leave out @0");
        }
        scripts
    }

    fn deck(&mut self, scripts: &[Chosen]) -> (Deck, Vec<Vec<u8>>) {
        let mut deck = Deck::new();
        for script in scripts {
            if let Err(faults) = deck.add(&script.name, &script.text, script.language, Allow::Nothing) {
                self.faults.extend(faults.iter().map(script_fault::told));
            }
        }
        (deck, scripts.iter().map(|script| script.text.clone()).collect())
    }

    /// As asked; or as the workloads are meant, which for scripts is as pgbench sends them.
    fn mode(&mut self, workloads: &[&Workload], deck: &Deck) -> Mode {
        let mode = match self.draft.query_mode.as_deref() {
            None => {
                let is_simple = self.draft.played.iter().any(|played| !matches!(played, Played::Workload(_)))
                    || workloads.iter().any(|workload| workload.mode == Mode::Simple);
                if is_simple { Mode::Simple } else { workloads.first().map_or(Mode::Simple, |one| one.mode) }
            }
            Some(text) => match Mode::NAMES.iter().find(|(name, _)| *name == text) {
                Some((_, mode)) => *mode,
                None => {
                    let what = format!("{text:?} is not known");
                    self.fault("--query-mode", what, "write simple, extended or prepared");
                    Mode::Simple
                }
            },
        };
        let piped = deck.scripts().iter().find(|script| script.has_pipeline());
        if let Some(script) = piped.filter(|_| mode == Mode::Simple) {
            let what =
                format!("{} has a pipeline, which the simple query protocol does not know", script.name());
            self.fault("--query-mode", what, "add --query-mode extended or prepared");
        }
        mode
    }

    fn max_tries(&mut self, workloads: &[&Workload]) -> u32 {
        let given = self.count("--max-tries", self.draft.max_tries.as_deref(), 0, u32::MAX.into());
        let of_files =
            self.draft.played.iter().any(|played| !matches!(played, Played::Workload(_))).then_some(1);
        // 0 is without limit, which only those want who all ignore such failures.
        let tries = workloads.iter().map(|workload| workload.max_tries).chain(of_files);
        given.map_or_else(|| tries.max().unwrap_or(1), |given| given as u32)
    }

    /// `special`, `uniform`, `zipf:1.1`, `pareto:0.2`.
    fn distribution(&mut self, workloads: &[&Workload]) -> Distribution {
        let draws = |workload: &&Workload| workload.tables == Tables::Sbtest;
        let has_rows = workloads.iter().any(draws);
        let Some(text) = self.draft.distribution.as_deref() else {
            return if has_rows { Distribution::Special } else { Distribution::Uniform };
        };
        if !has_rows {
            let what = "nothing that is played draws rows in this way";
            self.fault("--distribution", what, "leave it out: it is for the oltp workloads");
        }
        read_distribution(text).unwrap_or_else(|what| {
            self.fault("--distribution", what, "write special, uniform, zipf:1.1 or pareto:0.2");
            Distribution::Uniform
        })
    }
}

/// `special`, `uniform`, `zipf`, `zipf:1.1`, `pareto`, `pareto:0.2`.
pub(crate) fn read_distribution(text: &str) -> Result<Distribution, String> {
    let (kind, number) = text.split_once(':').map_or((text, None), |(kind, number)| (kind, Some(number)));
    let number =
        number.map(|number| number.trim().parse::<f64>().map_err(|_| format!("{number:?} is no number")));
    let number = number.transpose()?;
    match (kind, number) {
        ("special", None) => Ok(Distribution::Special),
        ("uniform", None) => Ok(Distribution::Uniform),
        ("zipf", number) => match number.unwrap_or(ZIPF_DEFAULT) {
            exponent if (1.001..=1000.0).contains(&exponent) => Ok(Distribution::Zipf(exponent)),
            _ => Err("the exponent of zipf is not between 1.001 and 1000".to_owned()),
        },
        ("pareto", number) => match number.unwrap_or(PARETO_DEFAULT) {
            share if share > 0.0 && share < 1.0 => Ok(Distribution::Pareto(share)),
            _ => Err("the share of pareto is not between 0 and 1".to_owned()),
        },
        _ => Err(format!("{text:?} is not known")),
    }
}

/// `postcodes-insert:multi-row`: a workload, and a style of its own.
pub(crate) fn styled(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(name, style)| (name, Some(style)))
}

/// The style of a name, or those that there are.
pub(crate) fn style_named(text: &str) -> Result<Style, String> {
    Style::NAMES.iter().find(|(name, _)| *name == text).map(|(_, style)| *style).ok_or_else(|| {
        let known: Vec<&str> = Style::NAMES.iter().map(|(name, _)| *name).collect();
        format!("write {}", known.join(", "))
    })
}

/// `name@weight`.
fn weighted(text: &str) -> (&str, Option<&str>) {
    text.rsplit_once('@').map_or((text, None), |(name, weight)| (name, Some(weight)))
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The name, with a number if it is taken.
pub(crate) fn unlike(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(name)
}

fn script_in(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let about = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is not a regular file"));
    }
    if about.len() > SCRIPT_BYTES_MAX {
        return Err(format!("{shown} is larger than 8 MiB"));
    }
    fs::read(path).map_err(|error| format!("{shown}: {error}"))
}
