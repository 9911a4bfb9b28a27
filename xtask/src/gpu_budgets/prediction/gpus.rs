//! GPUs as rows of data.

use super::mixes::Mix;

/// Peak rates and properties of a GPU.
#[derive(Clone, Copy)]
pub struct Gpu {
    pub name: &'static str,
    /// The part of its name by which drivers report it.
    pub adapter: &'static str,
    /// f32 operations per second. A multiply-add counts as two.
    pub flops: f64,
    /// Bytes per second from memory.
    pub bandwidth: f64,
    /// Bytes per second from the largest cache (estimated).
    pub cache_bandwidth: f64,
    /// Parts that run workgroups independently: multiprocessors, compute units, cores.
    pub processors: f64,
    /// Bytes of shared memory that it reads in the time of a multiply-add.
    pub shared_bytes: f64,
    /// Whether every instruction takes the time of a multiply-add, as on NVIDIA. Elsewhere, only vector instructions do.
    pub issues_one: bool,
    /// Where rates and properties come from.
    pub source: &'static str,
}

pub const GPUS: [Gpu; 7] = [
    Gpu {
        name: "Intel Iris Xe, 96 units",
        adapter: "Iris(R) Xe",
        flops: 2.07e12,
        bandwidth: 68e9,
        cache_bandwidth: 350e9,
        processors: 6.0,
        shared_bytes: 0.5,
        issues_one: false,
        source: "Intel: 96 units of 8 lanes at 1.35 GHz, LPDDR4X-4266; shared memory estimated",
    },
    Gpu {
        name: "Apple M2, 10 cores",
        adapter: "Apple M2",
        flops: 3.6e12,
        bandwidth: 100e9,
        cache_bandwidth: 500e9,
        processors: 10.0,
        shared_bytes: 1.0,
        issues_one: false,
        source: "Apple: 3.6 TFLOP/s, 100 GB/s; shared memory estimated",
    },
    Gpu {
        name: "NVIDIA RTX 4060 Laptop",
        adapter: "RTX 4060 Laptop",
        flops: 11.6e12,
        bandwidth: 256e9,
        cache_bandwidth: 1_500e9,
        processors: 24.0,
        shared_bytes: 1.0,
        issues_one: true,
        source: "NVIDIA: 24 multiprocessors of 128 lanes, here at 1.89 GHz, 256 GB/s",
    },
    Gpu {
        name: "AMD RX 7600",
        adapter: "RX 7600",
        flops: 10.9e12,
        bandwidth: 288e9,
        cache_bandwidth: 1_700e9,
        processors: 32.0,
        shared_bytes: 2.0,
        issues_one: false,
        source: "AMD: 32 units of 64 lanes at 2.66 GHz, 288 GB/s; pairs of instructions that issue together are not counted",
    },
    Gpu {
        name: "Qualcomm Adreno 740",
        adapter: "Adreno (TM) 740",
        flops: 2.1e12,
        bandwidth: 67e9,
        cache_bandwidth: 200e9,
        processors: 6.0,
        shared_bytes: 0.5,
        issues_one: false,
        source: "not published by Qualcomm; 1,536 lanes at 0.68 GHz and LPDDR5X-8400 according to reviews; the rest estimated",
    },
    Gpu {
        name: "NVIDIA H100 SXM",
        adapter: "H100",
        flops: 67e12,
        bandwidth: 3_350e9,
        cache_bandwidth: 5_500e9,
        processors: 132.0,
        shared_bytes: 1.0,
        issues_one: true,
        source: "NVIDIA: 67 TFLOP/s in f32, 3.35 TB/s, 132 multiprocessors",
    },
    Gpu {
        name: "NVIDIA H200",
        adapter: "H200",
        flops: 67e12,
        bandwidth: 4_800e9,
        cache_bandwidth: 5_500e9,
        processors: 132.0,
        shared_bytes: 1.0,
        issues_one: true,
        source: "NVIDIA: 67 TFLOP/s in f32, 4.8 TB/s, 132 multiprocessors",
    },
];

impl Gpu {
    /// Maximum share of the peak that a loop with this mix reaches.
    pub fn share(&self, mix: Mix) -> f64 {
        let issued = if self.issues_one { mix.of_all } else { mix.of_vector };
        if mix.shared_bytes > 0.0 { issued.min(self.shared_bytes / mix.shared_bytes) } else { issued }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_and_instructions_limit_loop() {
        let [xe, .., h200] = &GPUS;
        let mix = Mix { of_all: 0.4, of_vector: 0.8, shared_bytes: 2.0 };
        assert_eq!(xe.share(mix), 0.25, "shared memory");
        assert_eq!(h200.share(mix), 0.4, "instructions");
        assert_eq!(xe.share(Mix { shared_bytes: 0.0, ..mix }), 0.8, "vector instructions");
    }

    #[test]
    fn no_name_is_part_of_another() {
        for gpu in &GPUS {
            assert_eq!(GPUS.iter().filter(|other| other.adapter.contains(gpu.adapter)).count(), 1, "{}", gpu.name);
        }
    }
}
