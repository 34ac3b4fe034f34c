//! Real database servers, started for a test or a comparison and stopped with it.
