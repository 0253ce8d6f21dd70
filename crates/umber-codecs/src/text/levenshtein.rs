//! The edit distance of two sequences, by kinds of edits.

use super::TextError;

/// The edits that make one sequence of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Elements of the second sequence that the first lacks.
    pub deletions: i64,
    /// Elements of the first sequence that the second lacks.
    pub insertions: i64,
    /// Elements that differ.
    pub substitutions: i64,
}

impl Edits {
    /// The edit distance.
    pub fn total(self) -> i64 {
        self.deletions + self.insertions + self.substitutions
    }
}

/// The fewest edits between two sequences (Levenshtein 1966). Of equally many, deletions are preferred, then insertions.
pub fn levenshtein<T: PartialEq>(left: &[T], right: &[T]) -> Edits {
    let mut row: Vec<Edits> =
        (0..=left.len()).map(|count| Edits { insertions: count as i64, ..Edits::default() }).collect();
    for (index, expected) in right.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = Edits { deletions: index as i64 + 1, ..Edits::default() };
        for (column, got) in left.iter().enumerate() {
            let (above, before) = (row[column + 1], row[column]);
            let deletion = Edits { deletions: above.deletions + 1, ..above };
            let insertion = Edits { insertions: before.insertions + 1, ..before };
            let substitutions = diagonal.substitutions + i64::from(got != expected);
            let substitution = Edits { substitutions, ..diagonal };
            // Of several minima, `min_by_key` returns the first.
            let least = [deletion, insertion, substitution].into_iter().min_by_key(|edits| edits.total());
            row[column + 1] = least.unwrap_or_default();
            diagonal = above;
        }
    }
    row[left.len()]
}

/// The edits between the rows of two matrices, of which row `i` has `lengths[i]` elements that count.
///
/// A matrix is given as its elements, row after row.
pub fn levenshtein_rows<T: PartialEq>(
    left: &[T],
    left_lengths: &[i64],
    right: &[T],
    right_lengths: &[i64],
) -> Result<Vec<Edits>, TextError> {
    let rows = left_lengths.len();
    if right_lengths.len() != rows {
        return Err(TextError::Size { argument: "right_lengths", got: right_lengths.len(), expected: rows });
    }
    (0..rows)
        .map(|row| {
            let left = valid(left, "left", left_lengths, row)?;
            let right = valid(right, "right", right_lengths, row)?;
            Ok(levenshtein(left, right))
        })
        .collect()
}

/// The elements of a row that count.
fn valid<'a, T>(
    matrix: &'a [T],
    argument: &'static str,
    lengths: &[i64],
    row: usize,
) -> Result<&'a [T], TextError> {
    let size = matrix.len() / lengths.len();
    if size * lengths.len() != matrix.len() {
        return Err(TextError::Size { argument, got: matrix.len(), expected: size * lengths.len() });
    }
    let length = lengths[row];
    let is_inside = usize::try_from(length).is_ok_and(|length| length <= size);
    if !is_inside {
        return Err(TextError::Length { argument, row, length, size });
    }
    Ok(&matrix[row * size..][..length as usize])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(left: &str, right: &str) -> [i64; 3] {
        let Edits { deletions, insertions, substitutions } = levenshtein(left.as_bytes(), right.as_bytes());
        [deletions, insertions, substitutions]
    }

    #[test]
    fn edits_by_kind() {
        assert_eq!(counts("", ""), [0, 0, 0]);
        assert_eq!(counts("abc", ""), [0, 3, 0]);
        assert_eq!(counts("", "abc"), [3, 0, 0]);
        assert_eq!(counts("kitten", "sitting").iter().sum::<i64>(), 3);
        assert_eq!(counts("abc", "abd"), [0, 0, 1]);
    }

    #[test]
    fn rows_have_lengths() {
        let left = [1, 2, 3, 4, 5, 9];
        let right = [1, 3, 5, 4];
        let edits = levenshtein_rows(&left, &[3, 2], &right, &[2, 1]).unwrap();
        assert_eq!(edits.iter().map(|edits| edits.total()).collect::<Vec<_>>(), [1, 1]);
        let error = levenshtein_rows(&left, &[3, 4], &right, &[2, 1]).unwrap_err();
        assert_eq!(error.to_string(), "left[1] is 4; a row has 3 elements");
        assert!(levenshtein_rows(&left, &[3, -1], &right, &[2, 1]).is_err());
        assert!(levenshtein_rows(&left, &[3], &right, &[2, 1]).is_err());
        assert!(levenshtein_rows(&left, &[1, 1, 1, 1], &right, &[1, 1, 1, 1]).is_err());
        assert!(levenshtein_rows::<i32>(&[], &[], &[], &[]).unwrap().is_empty());
    }

    fn distance(left: &[u8], right: &[u8]) -> i64 {
        match (left, right) {
            ([], rest) | (rest, []) => rest.len() as i64,
            ([a, left @ ..], [b, right @ ..]) if a == b => distance(left, right),
            ([_, less @ ..], [_, fewer @ ..]) => {
                1 + distance(less, right).min(distance(left, fewer)).min(distance(less, fewer))
            }
        }
    }

    proptest! {
        #[test]
        fn the_distance_is_the_least(
            left in prop::collection::vec(0u8..3, 0..6),
            right in prop::collection::vec(0u8..3, 0..6),
        ) {
            let edits = levenshtein(&left, &right);
            prop_assert_eq!(edits.total(), distance(&left, &right));
            // The lengths differ by the insertions without the deletions.
            prop_assert_eq!(edits.insertions - edits.deletions, left.len() as i64 - right.len() as i64);
        }
    }
}
