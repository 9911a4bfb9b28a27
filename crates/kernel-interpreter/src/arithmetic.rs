//! Floating-point arithmetic with the freedom that WGSL leaves to a GPU ("Floating Point Evaluation" in its specification).

/// Behavior of a GPU where WGSL leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// Whether subnormal f32 values are flushed to zero, before and after each operation.
    pub flushes_f32: bool,
    /// Whether subnormal f16 values are flushed to zero when they are converted.
    pub flushes_f16: bool,
    /// Whether a product and the sum that it is added to are rounded once, including `fma`. Otherwise each is rounded.
    pub fuses: bool,
    /// Whether `dot` adds its products in pairs, from the last to the first.
    pub reassociates: bool,
}

impl Arithmetic {
    /// IEEE 754 in source order.
    pub const PLAIN: Self = Self { flushes_f32: false, flushes_f16: false, fuses: false, reassociates: false };
    /// The opposite of [`Self::PLAIN`] in every choice.
    pub const ADVERSARIAL: Self = Self { flushes_f32: true, flushes_f16: true, fuses: true, reassociates: true };

    /// An operand or a result of an operation: flushed to zero if it is subnormal and [`Self::flushes_f32`] is set.
    pub fn float(self, value: f32) -> f32 {
        if self.flushes_f32 && value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
    }

    /// `a b + c`, rounded once if [`Self::fuses`] is set, and else twice.
    pub fn multiply_add(self, a: f32, b: f32, c: f32) -> f32 {
        let [a, b, c] = [a, b, c].map(|value| self.float(value));
        self.float(if self.fuses { a.mul_add(b, c) } else { self.float(a * b) + c })
    }

    /// The sum of `a[i] b[i]`, in the order that [`Self::reassociates`] says. The words of `a` and `b` are f32 values, equally many.
    pub fn dot(self, a: &[u32], b: &[u32]) -> f32 {
        let pair = |(&a, &b): (&u32, &u32)| (f32::from_bits(a), f32::from_bits(b));
        if self.reassociates {
            let halves = a.chunks(2).zip(b.chunks(2)).rev();
            let sums = halves.map(|(a, b)| a.iter().zip(b).rev().map(pair).fold(0.0, |sum, (a, b)| self.multiply_add(a, b, sum)));
            return sums.fold(0.0, |total, sum| self.float(total + sum));
        }
        a.iter().zip(b).map(pair).fold(0.0, |sum, (a, b)| self.multiply_add(a, b, sum))
    }

    /// Value of the f16 number in the lower 16 bits, by the definition of binary16 in IEEE 754. Subnormal numbers are 0 if
    /// [`Self::flushes_f16`] is set.
    pub fn f16_to_f32(self, bits: u32) -> f32 {
        let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (bits >> 10 & 31, (bits & 1023) as f32);
        sign * match exponent {
            0 if self.flushes_f16 => 0.0,
            0 => fraction * (-24_f32).exp2(),
            31 if fraction == 0.0 => f32::INFINITY,
            31 => f32::NAN,
            _ => (1024.0 + fraction) * (exponent as f32 - 25.0).exp2(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_values_match_ieee_754() {
        let plain = Arithmetic::PLAIN;
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0400, 6.103_515_6e-5), (1, 5.960_464_5e-8), (0x7c00, f32::INFINITY)]
        {
            assert_eq!(plain.f16_to_f32(bits), value, "{bits:04x}");
        }
        assert!(plain.f16_to_f32(0x7e00).is_nan());
    }

    #[test]
    fn subnormal_numbers_are_flushed_if_set() {
        let flushing = Arithmetic::ADVERSARIAL;
        assert_eq!([flushing.f16_to_f32(0x03ff), flushing.f16_to_f32(0x0400)], [0.0, 6.103_515_6e-5]);
        assert_eq!([flushing.float(-1e-40), Arithmetic::PLAIN.float(1e-40)], [0.0, 1e-40]);
    }

    #[test]
    fn fused_products_are_rounded_once() {
        let fuses = Arithmetic { fuses: true, ..Arithmetic::PLAIN };
        let x = 1.0 + f32::EPSILON;
        assert_eq!(fuses.multiply_add(x, x, -1.0), 2.0 * f32::EPSILON + f32::EPSILON * f32::EPSILON);
        assert_eq!(Arithmetic::PLAIN.multiply_add(x, x, -1.0), 2.0 * f32::EPSILON);
    }

    #[test]
    fn dot_product_order_affects_rounding() {
        let words = |values: [f32; 4]| values.map(f32::to_bits);
        let (a, ones) = (words([1.0, 1e8, -1e8, 1.0]), words([1.0; 4]));
        let reassociates = Arithmetic { reassociates: true, ..Arithmetic::PLAIN };
        assert_eq!([Arithmetic::PLAIN.dot(&a, &ones), reassociates.dot(&a, &ones)], [1.0, 0.0]);
    }
}
