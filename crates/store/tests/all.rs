//! Tests of the store that need no separate process, all in one program.

mod a_crash_leaves_a_partial_run;
mod a_study_comes_back;
mod a_study_grows;
mod a_study_is_resumed;
mod baselines_are_kept;
mod ceilings_are_kept;
mod cpu_profiles_are_kept;
mod damage_is_an_error;
mod events_are_kept;
mod every_version_is_upgraded;
mod other_files_are_refused;
mod runs_are_found_by_name;
mod sample;
mod several_writers_share_the_file;
mod studies_are_found_by_name;
mod the_course_is_kept;
mod transactions_have_parts;
mod version_1_is_upgraded;
mod version_2_is_upgraded;
mod version_3_is_upgraded;
mod version_4_is_upgraded;
mod what_is_kept_comes_back;
