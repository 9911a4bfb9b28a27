//! Shapes of the kernels that take most of the time: how they divide their work among invocations. All shapes of a kernel add in the same
//! order, so they compute the same bits. Which one is the fastest differs between GPUs, so it is measured: see
//! [`Gpu::choose_shapes`](super::device::Gpu::choose_shapes).

mod measured;
mod trial;

use std::fmt::{Display, Formatter, Result};

use serde::Serialize;

/// Part of the 64 rows and 64 tokens of a workgroup that one invocation of `matmul_tiles` multiplies. Determines how many registers it
/// uses and how often it reads the tiles.
#[derive(Debug, PartialEq, Eq)]
pub struct TileShape {
    pub rows: usize,
    pub tokens: usize,
}

impl Display for TileShape {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}x{}", self.rows, self.tokens)
    }
}

/// All tile shapes. The first one of each list is the default for GPUs that were not measured.
pub const TILE_SHAPES: &[TileShape] =
    &[TileShape { rows: 8, tokens: 8 }, TileShape { rows: 8, tokens: 4 }, TileShape { rows: 4, tokens: 4 }];

/// Rows of W, of the 16 of a workgroup, that one invocation of `matvec_shared` multiplies: 1, 2 or 4. With more rows it loads the vector
/// less often; with fewer there are more invocations to wait for memory.
#[derive(Debug, PartialEq, Eq)]
pub struct VectorShape {
    pub rows: usize,
}

impl Display for VectorShape {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}", self.rows)
    }
}

pub const VECTOR_SHAPES: &[VectorShape] = &[VectorShape { rows: 2 }, VectorShape { rows: 1 }, VectorShape { rows: 4 }];

/// Invocations of `attention_step` per query head. The few heads of a model fill only small GPUs if each has few invocations.
#[derive(Debug, PartialEq, Eq)]
pub struct StepShape {
    pub invocations: usize,
}

impl Display for StepShape {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}", self.invocations)
    }
}

pub const STEP_SHAPES: &[StepShape] = &[StepShape { invocations: 256 }, StepShape { invocations: 64 }];

/// The shapes that a GPU uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shapes {
    pub tile: &'static TileShape,
    pub vector: &'static VectorShape,
    pub step: &'static StepShape,
}

impl Default for Shapes {
    fn default() -> Self {
        Self { tile: &TILE_SHAPES[0], vector: &VECTOR_SHAPES[0], step: &STEP_SHAPES[0] }
    }
}

impl Shapes {
    /// All combinations.
    pub fn all() -> impl Iterator<Item = Self> {
        let steps = |tile, vector| STEP_SHAPES.iter().map(move |step| Self { tile, vector, step });
        TILE_SHAPES.iter().flat_map(move |tile| VECTOR_SHAPES.iter().flat_map(move |vector| steps(tile, vector)))
    }
}

/// As in benchmarks and in storage.
impl Display for Shapes {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let Self { tile, vector, step } = self;
        write!(formatter, "tiles of {tile}, vectors by {vector}, heads by {step}")
    }
}

/// Measured time of one shape of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShapeTime {
    pub kernel: &'static str,
    /// As in [`Shapes`].
    pub shape: String,
    /// Best time of the measured work, in seconds; `None` if there was no time to measure this shape.
    pub seconds: Option<f64>,
    pub is_chosen: bool,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn combinations_have_different_names() {
        let names: BTreeSet<String> = Shapes::all().map(|shapes| shapes.to_string()).collect();
        assert_eq!(names.len(), TILE_SHAPES.len() * VECTOR_SHAPES.len() * STEP_SHAPES.len());
        assert!(names.contains("tiles of 8x8, vectors by 2, heads by 256"), "{names:?}");
    }
}
