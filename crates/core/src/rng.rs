//! Random numbers that are the same for the same seed on every platform.

/// splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
#[derive(Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), in steps of 2^-24, which an f32 holds exactly.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 40) as f64 / f64::from(1 << 24)
    }
}

/// Numbers in [-1, 1), the same for the same seed.
pub fn random(length: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    (0..length).map(|_| (2.0 * rng.uniform() - 1.0) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference_implementation() {
        // Vigna's splitmix64.c with the seed 1234567.
        let mut rng = Rng::new(1_234_567);
        assert_eq!([0; 3].map(|_| rng.next_u64()), [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn uniform_numbers_are_below_one() {
        let mut rng = Rng::new(1);
        assert!((0..1000).map(|_| rng.uniform()).all(|number| (0.0..1.0).contains(&number)));
    }
}
