//! Commands as OP_MSG messages: compiled once, and encoded for each exchange.

use alloc::string::String;
use alloc::vec::Vec;

use super::bson::{self, Document};
use super::json::Node;
use super::reader::OP_MSG;
use super::rules::{Rules, literal};
use super::step::MongoStep;
use crate::braces;
use crate::secrets::Secrets;

/// Key of the database in a command.
const DATABASE: &str = "$db";
/// Bytes before the document of a message.
const HEAD_BYTES: u64 = 21;
/// Commands whose replies have a cursor that is read to its end.
const CURSOR_COMMANDS: [&str; 4] = ["find", "aggregate", "listCollections", "listIndexes"];

/// A compiled command of a load.
#[derive(Debug)]
pub(super) struct Command {
    document: Document,
    /// Checks of the reply, and values to save from it.
    pub(super) rules: Rules,
    /// Whether to request further batches until the cursor is exhausted.
    pub(super) reads_whole_cursor: bool,
    /// Documents in each further batch. `None` lets the server choose.
    batch_size: Option<Node>,
    database: String,
}

impl Command {
    /// Compiles the command of a step. `database` is the one that it works on, unless it names another one.
    ///
    /// # Errors
    ///
    /// The message for an unknown variable or a value without a type.
    pub(super) fn compile(
        step: &MongoStep,
        database: &str,
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let rules = Rules::compile(step, variables, secrets)?;
        let named = match step.document.get(DATABASE) {
            Some(Node::Text(name)) => super::json::literal(name),
            _ => None,
        };
        let database =
            named.map_or_else(|| database.into(), |name| String::from_utf8_lossy(&name).into_owned());
        let mut entries = step.document.entries().to_vec();
        entries.retain(|(name, _)| name != DATABASE.as_bytes());
        entries.push((DATABASE.into(), literal(&database)));
        let reads_whole_cursor = CURSOR_COMMANDS.contains(&step.name().as_str()) && !rules.saves_cursor();
        let batch_size =
            step.document.get("batchSize").filter(|size| matches!(size, Node::Number(_))).cloned();
        Ok(Self {
            document: Document::compile(&entries, variables, secrets)?,
            rules,
            reads_whole_cursor,
            batch_size,
            database,
        })
    }

    /// Appends the message. `value` returns the value of a variable, empty if it has none.
    ///
    /// # Errors
    ///
    /// The value of a variable does not have the type that the command requires.
    pub(super) fn encode<'v>(
        &self,
        request: u32,
        value: &impl Fn(u16) -> &'v [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        put_message(request, out, |out| self.document.encode(value, out))
    }

    /// Appends the message that requests the next batch of a cursor.
    pub(super) fn encode_next_batch(&self, request: u32, cursor: i64, namespace: &[u8], out: &mut Vec<u8>) {
        let collection =
            namespace.iter().position(|byte| *byte == b'.').map_or(namespace, |at| &namespace[at + 1..]);
        let cursor = Node::Map(Vec::from([("$numberLong".into(), Node::Number(alloc::format!("{cursor}")))]));
        let mut entries = Vec::from([
            ("getMore", cursor),
            ("collection", Node::Text(braces::literal(collection))),
            (DATABASE, literal(&self.database)),
        ]);
        if let Some(size) = &self.batch_size {
            entries.insert(2, ("batchSize", size.clone()));
        }
        put(request, &entries, out);
    }

    /// Whether the command or its checks need a variable.
    pub(super) fn needs(&self, variable: u16) -> bool {
        self.document.variables().any(|needed| needed == variable) || self.rules.needs(variable)
    }

    /// Max length of the encoded command in bytes.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        self.document.bytes_max(longest_bytes).saturating_add(HEAD_BYTES)
    }
}

/// Appends a message with a document that `encode` appends.
fn put_message<E>(
    request: u32,
    out: &mut Vec<u8>,
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&request.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    // No flags, and a section of kind 0: a single document.
    out.extend_from_slice(&[0; 5]);
    encode(out)?;
    bson::end_length(out, start, start);
    Ok(())
}

/// Appends the message of a command without variables.
pub(super) fn put(request: u32, entries: &[(&str, Node)], out: &mut Vec<u8>) {
    let entries: Vec<(Vec<u8>, Node)> =
        entries.iter().map(|(name, node)| (name.as_bytes().into(), node.clone())).collect();
    let document = Document::compile(&entries, &[], &Secrets::default()).unwrap_or_default();
    // If the document has no variables, the compilation has encoded every value already.
    let _ = put_message(request, out, |out| document.encode(&|_| &[][..], out));
}
