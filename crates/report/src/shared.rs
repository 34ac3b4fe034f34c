//! Anonymizes studies and runs for sharing. Figures and verdicts stay; names of machines, people, and programs are replaced.
//!
//! Loaded values are rewritten before any format reads them, so that no format can skip it.

use evidence::{
    AskedBaseline, Baseline, BaselineLoad, BaselineRow, Cause, Ending, NewRun, NewStudy, Origin, Procedure,
    Run, Study, StudyPlace,
};
use record::LedgerEntry;
use serde_json::{Map, Value, json};

mod names;

use names::Names;

/// Note in every shared report.
const STAMP: &str = "Made for sharing: without host names, user names, paths, commands, error messages, output, and the plan.";
/// Facts of a machine that identify neither it nor its owner.
const SHARED_HOST_FACTS: [&str; 4] = ["cores", "cpu", "memory_bytes", "system"];

/// Rewrites all texts of one report. A name always gets the same replacement.
#[derive(Debug, Default)]
pub struct Anonymizer {
    names: Names,
}

impl Anonymizer {
    /// Collects the names in the runs of a report. Other names are recognized only by their form.
    pub fn of_runs(runs: &[Run]) -> Self {
        let sharing = Self::default();
        runs.iter().for_each(|run| sharing.learn_run(run));
        sharing
    }

    /// Learns the names in a study and its runs.
    pub fn of_study(study: &Study) -> Self {
        let sharing = Self::of_runs(&study.runs);
        sharing.learn_host(&study.new.host);
        sharing.names.learn(&study.new.source);
        sharing
    }

    /// Anonymizes a study.
    pub fn study(&self, mut study: Study) -> Study {
        let names = &self.names;
        let NewStudy { title, question, source, host, compare, gates, loads, planned, stamps, .. } =
            &mut study.new;
        *title = names.name(title);
        *question = question.as_deref().map(|question| names.name(question));
        source.clear();
        *host = of_host(host);
        compare.baseline = compare.baseline.as_deref().map(|baseline| names.name(baseline));
        match &mut compare.procedure {
            Procedure::Best { incumbent: Some(incumbent), .. } => *incumbent = names.name(incumbent),
            Procedure::Capacity(rules) => rules.slos.iter_mut().for_each(|slo| *slo = names.name(slo)),
            _ => (),
        }
        gates.iter_mut().for_each(|gate| *gate = names.name(gate));
        loads.iter_mut().for_each(|load| *load = names.name(load));
        planned.iter_mut().for_each(|place| self.place(place));
        self.stamp(stamps);
        study.baseline.iter_mut().for_each(|baseline| self.baseline(baseline));
        study.runs = study.runs.into_iter().map(|run| self.run(run)).collect();
        study
    }

    /// Anonymizes a run.
    pub fn run(&self, mut run: Run) -> Run {
        self.rewrite_new_run(&mut run.new);
        if let Some(ending) = &mut run.ending {
            self.rewrite_ending(ending);
        }
        run.baseline.iter_mut().for_each(|baseline| self.baseline(baseline));
        let label = |metric: &str, label: &str| self.names.name(judge::without_statement(metric, label));
        run.rewrite(&|text| self.names.name(text), &message, &label, &judge::bottleneck::messages_alone);
        run
    }

    fn rewrite_new_run(&self, new: &mut NewRun) {
        let names = &self.names;
        new.title = names.name(&new.title);
        new.plan_text.clear();
        new.plan_json = json!({ "seed": new.plan_json["seed"].as_u64() });
        new.host = of_host(&new.host);
        new.load_words = names.name(&new.load_words);
        new.steps.iter_mut().for_each(|step| *step = names.name(step));
        // The text of a statement comes from the plan.
        let numbered = new.parts.iter_mut().enumerate();
        numbered.for_each(|(place, part)| part.name = format!("statement {}", place + 1));
        self.stamp(&mut new.stamps);
        if let Some((_, place)) = &mut new.place {
            self.place(place);
        }
        new.system_version = new.system_version.as_deref().map(|version| names.sentence(version));
    }

    fn baseline(&self, baseline: &mut Baseline) {
        let name = |text: &mut String| *text = self.names.name(text);
        let Baseline { asked, conditions, found } = baseline;
        match asked {
            AskedBaseline::Label(text) | AskedBaseline::File(text) => "(left out)".clone_into(text),
            AskedBaseline::Run(_) => {}
        }
        conditions.iter_mut().for_each(name);
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                "no stored baseline could be used".clone_into(why);
                return;
            }
        };
        name(&mut found.title);
        found.origin = Origin::default();
        found.host = of_host(&found.host);
        for BaselineLoad { name: of_load, words, title, steps, plan_json, .. } in &mut found.loads {
            [of_load, words, title].into_iter().chain(steps).for_each(name);
            *plan_json = json!({});
        }
        for BaselineRow { load, system, variant, sides, spent } in &mut found.rows {
            spent.clear();
            let sides = sides.iter_mut().map(|side| &mut side.of);
            [load, system, variant].into_iter().chain(sides).for_each(name);
        }
    }

    fn rewrite_ending(&self, ending: &mut Ending) {
        let names = &self.names;
        let Ending { validity, notes, system, failure, not_available, steadiness, .. } = ending;
        for Cause { sentence, remedy, .. } in validity.causes.iter_mut().chain(&mut validity.notes) {
            (*sentence, *remedy) = (names.sentence(sentence), names.sentence(remedy));
        }
        notes.iter_mut().for_each(|note| *note = names.sentence(note));
        *system = None;
        if let Some(tool) = &mut ending.generator.tool {
            // Arguments of the command come from the plan.
            tool.command.clear();
        }
        if let Some(failure) = failure {
            failure.process = failure.process.as_deref().map(|process| names.name(process));
            failure.what = names.sentence(&failure.what);
            failure.way_out = names.sentence(&failure.way_out);
        }
        for (probe, why) in not_available {
            (*probe, *why) = (names.name(probe), names.sentence(why));
        }
        if let Some(why) = steadiness.as_mut().and_then(|steadiness| steadiness.why.as_mut()) {
            *why = names.sentence(why);
        }
    }

    fn place(&self, place: &mut StudyPlace) {
        let StudyPlace { system, variant, knobs, load, .. } = place;
        for text in [system, variant, load] {
            *text = self.names.name(text);
        }
        for (knob, value) in knobs {
            (*knob, *value) = (self.names.name(knob), self.names.name(value));
        }
    }

    fn stamp(&self, stamps: &mut Vec<String>) {
        stamps.iter_mut().for_each(|stamp| *stamp = self.names.sentence(stamp));
        stamps.push(STAMP.to_owned());
    }

    fn learn_run(&self, run: &Run) {
        self.learn_host(&run.new.host);
        self.names.learn(&run.new.title);
        self.learn_json(&run.new.plan_json);
        let failure = run.ending.iter().filter_map(|ending| ending.failure.as_ref());
        failure.for_each(|failure| self.names.learn(&failure.what));
        run.ending.iter().flat_map(|ending| &ending.notes).for_each(|note| self.names.learn(note));
        run.outputs().iter().for_each(|output| self.names.learn(&String::from_utf8_lossy(&output.text)));
    }

    fn learn_host(&self, host: &Value) {
        if let Some(name) = host["name"].as_str() {
            self.names.host(name);
        }
    }

    fn learn_json(&self, value: &Value) {
        match value {
            Value::String(text) => self.names.learn(text),
            Value::Array(list) => list.iter().for_each(|value| self.learn_json(value)),
            Value::Object(object) => {
                let host = object.get("host").and_then(Value::as_str);
                // Learned like the host of a URL, which may have a port.
                host.into_iter().for_each(|host| self.names.learn(&format!("://{host}")));
                object.values().for_each(|value| self.learn_json(value));
            }
            _ => (),
        }
    }
}

/// Replaces an error message, which may quote a server, by its code.
fn message(entry: &LedgerEntry) -> String {
    match entry.code {
        0 => "(left out)".to_owned(),
        code => format!("code {code}"),
    }
}

fn of_host(host: &Value) -> Value {
    let facts = SHARED_HOST_FACTS.iter().filter_map(|key| Some(((*key).to_owned(), host.get(key)?.clone())));
    Value::Object(facts.collect::<Map<_, _>>())
}
