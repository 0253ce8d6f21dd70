//! Dot: a graph in the language of Graphviz.

use std::collections::HashSet;
use std::fmt::Write;

use super::mlx_names::label;
use crate::graph::walk::{IdMap, topological};
use crate::graph::{Array, ArraySpec, Node};
use crate::op::Op;

/// Describe the pending graph behind `outputs` in Graphviz's DOT language: operations are boxes, arrays are named.
///
/// `names` names arrays; the others are lettered. The format and the names of operations are those of MLX
/// (<https://graphviz.org/doc/info/lang.html>).
pub fn to_dot(outputs: &[Array], names: &[(String, Array)]) -> String {
    let mut namer = Namer::new(names);
    let mut text = String::from("digraph {\n");
    let nodes = topological(outputs);
    let is_source = |node: &Node, inputs: &[Array]| {
        node.is_evaluated() || inputs.is_empty() || matches!(node.op(), Op::Leaf(_))
    };
    let is_output: HashSet<(usize, u32)> = outputs.iter().map(Array::id).collect();
    // The inputs of a source are not drawn: those of an argument of a traced function are its values.
    let mut read: HashSet<(usize, u32)> = HashSet::new();
    let mut drawn = Vec::new();
    for node in nodes.iter().rev() {
        let is_needed = |array: &Array| read.contains(&array.id()) || is_output.contains(&array.id());
        if !Array::outputs_of(node).iter().any(is_needed) {
            continue;
        }
        drawn.push(node);
        let inputs = node.inputs();
        if !is_source(node, &inputs) {
            read.extend(inputs.iter().map(Array::id));
        }
    }
    drawn.reverse();
    for (number, node) in drawn.into_iter().enumerate() {
        let inputs = node.inputs();
        let arrays = Array::outputs_of(node);
        if is_source(node, &inputs) {
            let is_needed = |array: &&Array| read.contains(&array.id()) || is_output.contains(&array.id());
            for array in arrays.iter().filter(is_needed) {
                let _ = writeln!(text, "{{ rank=source; \"{}\"; }}", namer.name(array));
            }
            continue;
        }
        let input_specs: Vec<&ArraySpec> = inputs.iter().map(Array::spec).collect();
        let output_specs: Vec<ArraySpec> = arrays.iter().map(|array| array.spec().clone()).collect();
        let label = label(node.op(), &input_specs, &output_specs);
        let _ = writeln!(text, "{{ {number} [label =\"{label}\", shape=rectangle]; }}");
        for input in &inputs {
            let _ = writeln!(text, "\"{}\" -> {number}", namer.name(input));
        }
        for array in &arrays {
            let is_result = is_output.contains(&array.id()) && !read.contains(&array.id());
            let rank = if is_result { "rank=sink; " } else { "" };
            let name = namer.name(array);
            let _ = writeln!(text, "{{ {rank}\"{name}\"; }}\n{number} -> \"{name}\"");
        }
    }
    text.push_str("}\n");
    text
}

/// Names of arrays: those supplied by the caller, otherwise A, B, … Z, AA, AB, …
struct Namer {
    names: IdMap<(usize, u32), String>,
    used: HashSet<String>,
    next: usize,
}

impl Namer {
    fn new(names: &[(String, Array)]) -> Namer {
        let escaped = |name: &String| name.replace('\\', "\\\\").replace('"', "\\\"");
        let names: IdMap<_, _> = names.iter().map(|(name, array)| (array.id(), escaped(name))).collect();
        let used = names.values().cloned().collect();
        Namer { names, used, next: 0 }
    }

    fn name(&mut self, array: &Array) -> String {
        if let Some(name) = self.names.get(&array.id()) {
            return name.clone();
        }
        let name = loop {
            let name = letters(self.next);
            self.next += 1;
            if self.used.insert(name.clone()) {
                break name;
            }
        };
        self.names.insert(array.id(), name.clone());
        name
    }
}

/// The name with this index: A, B, … Z, AA, AB, …
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
