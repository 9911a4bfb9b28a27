//! Colors of the page, as in `www/base.css`, for exported pictures.

use std::fmt;

/// Red, green and blue, a byte each: 0xRRGGBB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub u32);

/// Colors, named as in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub paper: Color,
    pub ink: Color,
    pub ink_soft: Color,
    pub line: Color,
    pub line_strong: Color,
    pub accent: Color,
    pub accent_soft: Color,
    pub warn_ink: Color,
    pub warn_soft: Color,
    pub heat: Color,
    pub minus: Color,
    pub edge_weak: Color,
    pub edge_minus: Color,
    pub edge_strong: Color,
}

pub const LIGHT: Palette = Palette {
    paper: Color(0xff_ffff),
    ink: Color(0x1a_1a1a),
    ink_soft: Color(0x56_5d66),
    line: Color(0xdf_e3e8),
    line_strong: Color(0x85_8d97),
    accent: Color(0x0b_5cab),
    accent_soft: Color(0xea_f2fb),
    warn_ink: Color(0x7a_4300),
    warn_soft: Color(0xff_f5e5),
    heat: Color(0x42_92c6),
    minus: Color(0xb0_8cc4),
    edge_weak: Color(0x42_92c6),
    edge_minus: Color(0x85_509f),
    edge_strong: Color(0x08_306b),
};

pub const DARK: Palette = Palette {
    paper: Color(0x12_1212),
    ink: Color(0xf2_f2f2),
    ink_soft: Color(0xa9_b1bb),
    line: Color(0x2b_2f35),
    line_strong: Color(0x74_7d88),
    accent: Color(0x7d_b8f5),
    accent_soft: Color(0x16_283c),
    warn_ink: Color(0xf5_c37a),
    warn_soft: Color(0x33_260f),
    heat: Color(0x35_6492),
    minus: Color(0x6d_4a82),
    edge_weak: Color(0x4c_86bd),
    edge_minus: Color(0xbd_97d6),
    edge_strong: Color(0xcf_e4fb),
};

impl Color {
    /// Mixes `share` (in [0, 1]) of this color into `other`, like `color-mix(in srgb, ..)` in CSS.
    pub fn over(self, other: Self, share: f64) -> Self {
        let mixed = |shift: u32| {
            let [own, other] = [self, other].map(|Self(color)| f64::from(color >> shift & 0xff));
            ((other + (own - other) * share).round() as u32) << shift
        };
        Self(mixed(16) | mixed(8) | mixed(0))
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Light and dark value of a color in the page's style sheet.
    fn of_the_page(name: &str) -> [Color; 2] {
        let css = include_str!("../../../../www/base.css");
        let line = css.lines().find_map(|line| line.trim().strip_prefix(&format!("--{name}: light-dark("))).expect(name);
        let colors: Vec<Color> = line
            .trim_end_matches(");")
            .split(", ")
            .map(|color| Color(u32::from_str_radix(color.trim_start_matches('#'), 16).expect(color)))
            .collect();
        colors.try_into().expect(name)
    }

    fn colors(palette: Palette) -> [(&'static str, Color); 14] {
        [
            ("paper", palette.paper),
            ("ink", palette.ink),
            ("ink-soft", palette.ink_soft),
            ("line", palette.line),
            ("line-strong", palette.line_strong),
            ("accent", palette.accent),
            ("accent-soft", palette.accent_soft),
            ("warn-ink", palette.warn_ink),
            ("warn-soft", palette.warn_soft),
            ("heat", palette.heat),
            ("minus", palette.minus),
            ("edge-weak", palette.edge_weak),
            ("edge-minus", palette.edge_minus),
            ("edge-strong", palette.edge_strong),
        ]
    }

    #[test]
    fn the_colors_are_those_of_the_page() {
        for ((name, light), (_, dark)) in colors(LIGHT).into_iter().zip(colors(DARK)) {
            assert_eq!([light, dark], of_the_page(name), "{name}");
        }
    }

    #[test]
    fn colors_mix_as_in_css() {
        assert_eq!(Color(0x00_00ff).over(Color(0xff_ffff), 0.5).to_string(), "#8080ff");
        assert_eq!(LIGHT.heat.over(LIGHT.paper, 1.0), LIGHT.heat);
    }

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(Color(color): Color) -> f64 {
        let part = |shift: u32, weight: f64| {
            let part = f64::from(color >> shift & 0xff) / 255.0;
            weight * if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        part(16, 0.2126) + part(8, 0.7152) + part(0, 0.0722)
    }

    fn contrast(a: Color, b: Color) -> f64 {
        let [a, b] = [luminance(a), luminance(b)];
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_edges_keep_minimum_contrast() {
        for palette in [LIGHT, DARK] {
            for step in 0..=10 {
                let strength = f64::from(step) / 10.0;
                for ground in [palette.paper, palette.accent_soft] {
                    for heat in [palette.heat, palette.minus] {
                        assert!(contrast(palette.ink, heat.over(ground, strength)) >= 4.5, "{heat} {strength}");
                    }
                }
                assert!(contrast(palette.paper, palette.edge_strong.over(palette.edge_weak, strength)) >= 3.0, "{strength}");
            }
            for soft in [palette.ink_soft, palette.accent, palette.warn_ink] {
                assert!(contrast(soft, palette.paper) >= 4.5, "{soft}");
            }
            assert!(contrast(palette.accent, palette.accent_soft) >= 4.5 && contrast(palette.edge_minus, palette.paper) >= 3.0);
        }
    }

    #[test]
    fn stronger_is_further_from_the_paper_in_gray_too() {
        for palette in [LIGHT, DARK] {
            for heat in [palette.heat, palette.minus] {
                let contrasts: Vec<f64> =
                    (0..=10).map(|step| contrast(palette.paper, heat.over(palette.paper, f64::from(step) / 10.0))).collect();
                assert!(contrasts.is_sorted(), "{heat}");
            }
        }
    }
}
