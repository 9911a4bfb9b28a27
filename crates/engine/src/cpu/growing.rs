//! A tensor that grows along one axis. It has room for more, so appending a token does not copy all earlier tokens.

use candle_core::{Result, Tensor};

/// Rows along one axis of a tensor.
pub struct Growing {
    axis: usize,
    /// A view of the rows in `buffer`, or a tensor without room.
    rows: Tensor,
    /// Starts with the rows. Nothing else writes to it, because a clone or a prefix has no buffer.
    buffer: Option<Tensor>,
}

/// A clone copies its rows when they grow. Otherwise both would write to the same room.
impl Clone for Growing {
    fn clone(&self) -> Self {
        Self { axis: self.axis, rows: self.rows.clone(), buffer: None }
    }
}

impl Growing {
    /// `rows`, without room.
    pub fn new(rows: Tensor, axis: usize) -> Self {
        Self { axis, rows, buffer: None }
    }

    /// `next` after the rows of `past`.
    pub fn after(past: Option<Self>, next: &Tensor, axis: usize) -> Result<Self> {
        let Some(mut past) = past else { return Ok(Self::new(next.clone(), axis)) };
        past.append(next)?;
        Ok(past)
    }

    /// All rows. Not contiguous if the axis is not the first.
    pub fn rows(&self) -> &Tensor {
        &self.rows
    }

    /// `n` rows, starting at `first`.
    pub fn part(&self, first: usize, n: usize) -> Result<Self> {
        Ok(Self::new(self.rows.narrow(self.axis, first, n)?, self.axis))
    }

    /// Appends rows. Copies the earlier rows only if the room does not suffice, and then makes room for half as many.
    pub fn append(&mut self, next: &Tensor) -> Result<()> {
        let (axis, n) = (self.axis, self.rows.dim(self.axis)?);
        let end = n + next.dim(axis)?;
        let buffer = match self.buffer.take() {
            Some(buffer) if buffer.dim(axis)? >= end => buffer,
            _ => self.copied(end.max(n + n / 2))?,
        };
        buffer.slice_set(&next.contiguous()?, axis, n)?;
        self.rows = buffer.narrow(axis, 0, end)?;
        self.buffer = Some(buffer);
        Ok(())
    }

    /// A buffer of `capacity` rows that starts with a copy of the rows.
    fn copied(&self, capacity: usize) -> Result<Tensor> {
        let mut shape = self.rows.dims().to_vec();
        shape[self.axis] = capacity;
        let buffer = Tensor::zeros(shape, self.rows.dtype(), self.rows.device())?;
        buffer.slice_set(&self.rows.contiguous()?, self.axis, 0)?;
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;
    use glasscage_core::rng::Rng;

    /// `[2, n, 3]` for axis 1, `[n, 3]` for axis 0.
    fn random(axis: usize, n: usize, rng: &mut Rng) -> Tensor {
        let shape = if axis == 0 { vec![n, 3] } else { vec![2, n, 3] };
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| rng.uniform() as f32 - 0.5).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn bits(tensor: &Tensor) -> Vec<u32> {
        tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
    }

    fn capacity(growing: &Growing) -> usize {
        growing.buffer.as_ref().map_or(0, |buffer| buffer.dims()[growing.axis])
    }

    #[test]
    fn thousand_tokens_are_copied_few_times() {
        let mut rng = Rng::new(1);
        for axis in [0, 1] {
            let mut growing = Growing::new(random(axis, 4, &mut rng), axis);
            let mut capacities = Vec::new();
            for n in 5..=1000 {
                growing.append(&random(axis, 1, &mut rng)).unwrap();
                capacities.push(capacity(&growing));
                assert!(growing.rows().dims()[axis] == n && capacities.last().is_some_and(|&capacity| n <= capacity && capacity <= 2 * n));
            }
            capacities.dedup();
            assert!(capacities.len() <= 16, "copied {} times instead of 996", capacities.len());
        }
    }

    #[test]
    fn rows_equal_concatenation_in_every_bit() {
        let mut rng = Rng::new(2);
        for axis in [0, 1] {
            let parts: Vec<Tensor> = [3, 1, 1, 7, 1, 20, 1].map(|n| random(axis, n, &mut rng)).into();
            let mut growing = Growing::new(parts[0].clone(), axis);
            for end in 2..=parts.len() {
                growing.append(&parts[end - 1]).unwrap();
                assert_eq!(bits(growing.rows()), bits(&Tensor::cat(&parts[..end], axis).unwrap()));
            }
        }
    }

    #[test]
    fn products_equal_those_of_concatenation_in_every_bit() {
        let mut rng = Rng::new(3);
        let parts: Vec<Tensor> = [40, 1, 1, 60, 1].map(|n| random(1, n, &mut rng)).into();
        let mut growing = Growing::new(parts[0].clone(), 1);
        parts[1..].iter().for_each(|part| growing.append(part).unwrap());
        let contiguous = Tensor::cat(&parts, 1).unwrap();
        // Rows of all heads next to each other, as `Tensor::cat` of views lays them out.
        let interleaved = contiguous.transpose(0, 1).unwrap().contiguous().unwrap().transpose(0, 1).unwrap();
        for n in [1, 2, 7, 40] {
            let (queries, weights) = (random(1, n, &mut rng), random(1, n * 103, &mut rng).reshape((2, 3 * n, 103)).unwrap());
            let products = |rows: &Tensor| [queries.matmul(&rows.t().unwrap()).unwrap(), weights.matmul(rows).unwrap()].map(|x| bits(&x));
            assert_eq!(products(growing.rows()), products(&contiguous), "{n}");
            assert_eq!(products(growing.rows()), products(&interleaved), "{n}");
        }
    }

    #[test]
    fn prefix_and_clone_leave_original_unchanged() {
        let mut rng = Rng::new(4);
        for axis in [0, 1] {
            let mut growing = Growing::after(None, &random(axis, 8, &mut rng), axis).unwrap();
            growing.append(&random(axis, 1, &mut rng)).unwrap();
            let before = bits(growing.rows());
            let (mut prefix, mut clone) = (growing.part(0, 5).unwrap(), growing.clone());
            let [other, more, own] = [(); 3].map(|()| random(axis, 2, &mut rng));
            prefix.append(&other).unwrap();
            clone.append(&more).unwrap();
            assert_eq!(bits(growing.rows()), before);
            growing.append(&own).unwrap();
            assert_eq!(bits(&clone.rows().narrow(axis, 9, 2).unwrap()), bits(&more));
            assert_eq!(bits(&prefix.rows().narrow(axis, 5, 2).unwrap()), bits(&other));
        }
    }
}
