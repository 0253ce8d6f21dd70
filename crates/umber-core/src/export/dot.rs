//! Dot: a graph in the language of Graphviz.

use std::collections::HashSet;
use std::fmt::Write;

use crate::graph::Array;
use crate::graph::walk::{IdMap, topological};
use crate::op::Op;

/// What is not yet evaluated behind `outputs`, as a directed graph: operations are boxes, arrays are named.
///
/// `names` names arrays; the others get letters. Text of the DOT language (<https://graphviz.org/doc/info/lang.html>).
pub fn to_dot(outputs: &[Array], names: &[(String, Array)]) -> String {
    let mut namer = Namer::new(names);
    let mut text = String::from("digraph {\n");
    let asked: HashSet<(usize, u32)> = outputs.iter().map(Array::id).collect();
    for (number, node) in topological(outputs).iter().enumerate() {
        let inputs = node.inputs();
        let arrays = Array::outputs_of(node);
        let is_source = node.is_evaluated() || inputs.is_empty() || matches!(node.op(), Op::Leaf(_));
        let read = if is_source { &[][..] } else { &inputs[..] };
        if !is_source {
            let label = node.op().name();
            let _ = writeln!(text, "  op{number} [label=\"{label}\", shape=rectangle];");
        }
        for input in read {
            let _ = writeln!(text, "  \"{}\" -> op{number};", namer.name(input));
        }
        for array in &arrays {
            let (name, rank) = (namer.name(array), rank_of(is_source, asked.contains(&array.id())));
            let spec = format!("{name}\\n{} {}", array.shape(), array.dtype());
            let _ = writeln!(text, "  {{ {rank}\"{name}\" [label=\"{spec}\"]; }}");
            if !is_source {
                let _ = writeln!(text, "  op{number} -> \"{name}\";");
            }
        }
    }
    text.push_str("}\n");
    text
}

fn rank_of(is_source: bool, is_asked: bool) -> &'static str {
    match (is_source, is_asked) {
        (_, true) => "rank=sink; ",
        (true, false) => "rank=source; ",
        (false, false) => "",
    }
}

/// Names of arrays: those given, else A, B, … Z, AA, AB, …
struct Namer {
    names: IdMap<(usize, u32), String>,
    taken: HashSet<String>,
    next: usize,
}

impl Namer {
    fn new(names: &[(String, Array)]) -> Namer {
        let escaped = |name: &String| name.replace('\\', "\\\\").replace('"', "\\\"");
        let names: IdMap<_, _> = names.iter().map(|(name, array)| (array.id(), escaped(name))).collect();
        let taken = names.values().cloned().collect();
        Namer { names, taken, next: 0 }
    }

    fn name(&mut self, array: &Array) -> String {
        if let Some(name) = self.names.get(&array.id()) {
            return name.clone();
        }
        let name = loop {
            let name = letters(self.next);
            self.next += 1;
            if self.taken.insert(name.clone()) {
                break name;
            }
        };
        self.names.insert(array.id(), name.clone());
        name
    }
}

/// The name with a number: A, B, … Z, AA, AB, …
pub fn letters(mut number: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'A' + (number % 26) as u8);
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    name.reverse();
    name.into_iter().map(char::from).collect()
}
