//! `tenbin check PLAN`: does everything but the load. `tenbin check SCRIPT.sql` explains a script.

mod script;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use plan::Study;
use runner::{RehearsalResult, Rendered, Stopper, Tools};

use crate::commands::baseline;
use crate::commands::completions::plan_files;
use crate::commands::{PublicFlag, StoreFlag, fail_on, read_plan, this_program};
use crate::exit::{BadArguments, Exit};
use crate::{output, signals};
use script::ScriptFormat;

/// Max lines of a system's output to show when it fails.
const TAIL_LINES: usize = 12;

/// Arguments of `tenbin check`.
#[derive(Args, Debug)]
pub(crate) struct CheckFlags {
    /// Plan file, or a script in SQL, which is explained
    #[arg(value_name = "PLAN", add = ArgValueCompleter::new(plan_files), required_unless_present = "schema")]
    plan: Option<PathBuf>,
    /// Check the short form that the plan defines under `quick`
    #[arg(long)]
    quick: bool,
    /// Connect once to each system that is already running
    #[arg(long)]
    connect: bool,
    /// Start each variant, connect once, try the probes, and stop it; includes --connect
    #[arg(long)]
    start: bool,
    #[command(flatten)]
    public: PublicFlag,
    #[command(flatten)]
    store: StoreFlag,
    /// Script: set a variable; repeatable
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    defines: Vec<String>,
    /// Script: form of the explanation [default: terminal]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<ScriptFormat>,
    /// Print the JSON Schema of plans, for editors
    #[arg(long, conflicts_with_all = ["plan", "quick", "connect", "start"])]
    schema: bool,
}

/// Reads a plan, and describes what it would do. Sends nothing unless a flag asks for it.
pub(crate) fn run(flags: &CheckFlags) -> anyhow::Result<Exit> {
    let Some(plan) = &flags.plan else {
        output::data(&plan::schema())?;
        return Ok(Exit::Ok);
    };
    if script::is_script(plan) {
        return explain_script(plan, flags);
    }
    if !flags.defines.is_empty() || flags.format.is_some() {
        let what =
            format!("{}: -D and --format apply to scripts (*.sql), and this is a plan", plan.display());
        return Err(BadArguments(format!("{what}\n  help: leave them out")).into());
    }
    let mut study = read_plan(plan, flags.quick)?;
    study.resolve_interleave_at(&runner::place());
    let seen = runner::choose_cores(&mut study);
    let tenbin = this_program()?;
    let baseline = baseline::of_study(&study, &flags.store)?;
    output::lines(&study.explain())?;
    if let Some(seen) = seen {
        output::lines(&format!("neighbors   {seen}\n"))?;
    }
    for limit in runner::connection_limits(&study, &tenbin) {
        output::lines(&format!("limit       {}\n", report::visible(&limit)))?;
    }
    if let Some(baseline) = &baseline {
        output::lines(&format!("            {}\n", baseline::words(baseline)))?;
    }
    print_first_requests(&study, &tenbin)?;
    let generator = flags.public.generator()?;
    fail_on(&runner::preflight(&study, &tenbin, &generator.public))?;
    if !flags.connect && !flags.start {
        return Ok(Exit::Ok);
    }
    let stopper = Stopper::default();
    let received_signals = signals::listen(stopper.clone())?;
    received_signals.mark_run_started();
    if flags.start {
        runner::tidy_up().iter().for_each(|line| output::remark(&report::visible(line)));
    }
    let (mut failed, mut not_available) = (0, Vec::new());
    let (mut written, mut gap) = (Ok(()), "\n");
    let tools = Tools { generator: &generator, ..Tools::local(&stopper) };
    runner::rehearse(&study, flags.start, &tenbin, &tools, |rehearsed| {
        failed += usize::from(!rehearsed.failures.is_empty());
        for probe in &rehearsed.not_available {
            if !not_available.contains(probe) {
                not_available.push(probe.clone());
            }
        }
        if written.is_ok() {
            written = output::lines(&format!("{gap}{}", words(rehearsed)));
            gap = "";
        }
    })?;
    written?;
    for (probe, because) in &not_available {
        output::lines(&format!("probe {probe} is not available: {}\n", report::visible(because)))?;
    }
    if let Some(exit) = received_signals.exit() {
        return Ok(exit);
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::CouldNotRun })
}

/// Explains a script. Flags that start or connect need a plan.
fn explain_script(path: &Path, flags: &CheckFlags) -> anyhow::Result<Exit> {
    let given = [("--quick", flags.quick), ("--connect", flags.connect), ("--start", flags.start)];
    if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let what = format!("{flag} needs a plan, and {} is a script", path.display());
        return Err(BadArguments(format!("{what}\n  help: leave it out, or name a plan")).into());
    }
    script::run(path, &flags.defines, flags.format.unwrap_or_default())
}

/// Prints the first requests of each step. Control characters are escaped, and each line of a request stays a line.
fn print_first_requests(study: &Study, tenbin: &Path) -> anyhow::Result<()> {
    let rendered = runner::rendered(study, tenbin)?;
    if rendered.is_empty() {
        return Ok(());
    }
    let note = match study.has_seed {
        true => format!("seed {}", study.seed),
        false => "an example, because each study draws its own values".to_owned(),
    };
    output::lines(&format!("sends first ({note})\n"))?;
    for Rendered { step, sent } in rendered {
        output::lines(&format!("  {}\n", report::visible(&step)))?;
        for (number, text) in (1..).zip(sent) {
            for (at, line) in text.lines().enumerate() {
                let mark = if at == 0 { format!("{number}  ") } else { "   ".to_owned() };
                output::lines(&format!("    {}\n", format!("{mark}{}", report::visible(line)).trim_end()))?;
            }
        }
    }
    Ok(())
}

fn words(rehearsed: &RehearsalResult) -> String {
    let name = report::visible(&rehearsed.name);
    let version =
        rehearsed.version.as_ref().map_or(String::new(), |text| format!(" ({})", report::visible(text)));
    let mut text = match (rehearsed.ready_after, rehearsed.stopped_after) {
        (Some(ready), Some(stopped)) => {
            format!("{name}{version}: ready after {}, stopped in {}\n", seconds(ready), seconds(stopped))
        }
        _ if rehearsed.failures.is_empty() => format!("{name}{version}: answers\n"),
        _ => format!("{name}{version}: failed\n"),
    };
    for failure in &rehearsed.failures {
        for line in failure.lines() {
            text += &format!("  {}\n", report::visible(line));
        }
    }
    for output in &rehearsed.outputs {
        let written = String::from_utf8_lossy(&output.text);
        let lines: Vec<&str> = written.lines().collect();
        for line in &lines[lines.len().saturating_sub(TAIL_LINES)..] {
            text += &format!("  {} | {}\n", report::visible(&output.process), report::visible(line));
        }
    }
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
