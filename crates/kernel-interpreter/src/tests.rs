//! Small kernels, correct and faulty.

use crate::{Arithmetic, Error, Kernel, Use};

/// Sums 8 numbers in workgroup memory. `FIRST` and `EACH` are placeholders for barriers.
const SUM: &str = "
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
var<workgroup> sums: array<f32, 8>;

fn add(to: u32, source: u32) {
    sums[to] += sums[source];
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    sums[local] = x[group.x * 8u + local];
    FIRST
    for (var half = 4u; half > 0u; half /= 2u) {
        if local < half {
            add(local, local + half);
        }
        EACH
    }
    if local == 0u {
        y[group.x] = sums[0];
    }
}";

fn sum(first: &str, each: &str) -> Result<Vec<f32>, Error> {
    let kernel = Kernel::new(&SUM.replace("FIRST", first).replace("EACH", each), Arithmetic::PLAIN)?;
    let mut bindings = [(0..16).map(|i| (i as f32).to_bits()).collect(), vec![0; 2]];
    kernel.run(&mut bindings, [2, 1, 1], 1)?;
    Ok(bindings[1].iter().map(|&word| f32::from_bits(word)).collect())
}

/// Computes `y[id.x]` by a function body over `x[id.x]`, with one workgroup of 4 invocations.
fn one_each(body: &str, arithmetic: Arithmetic, x: &[u32]) -> Result<Vec<u32>, Error> {
    let wgsl = format!(
        "struct Pair {{ number: u32, is_even: bool, rest: vec2<f32> }}
         @group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<storage, read_write> y: array<u32>;
         var<private> table: array<vec2<f32>, 3>;
         fn pair(number: u32) -> Pair {{
             if number % 2u == 0u {{ return Pair(number, true, vec2(0.5)); }}
             return Pair(number, false, vec2<f32>(1.5, 2.5));
         }}
         fn y_of(x: u32) -> u32 {{ {body} }}
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ y[id.x] = y_of(x[id.x]); }}"
    );
    let mut bindings = [x.to_vec(), vec![0; x.len()]];
    Kernel::new(&wgsl, arithmetic)?.run(&mut bindings, [x.len() as u32 / 4, 1, 1], 1)?;
    Ok(bindings[1].clone())
}

#[test]
fn kernel_with_barriers_computes_sums() {
    assert_eq!(sum("workgroupBarrier();", "workgroupBarrier();").unwrap(), [28.0, 92.0]);
}

#[test]
fn missing_barriers_are_found() {
    for (first, each) in [("", "workgroupBarrier();"), ("workgroupBarrier();", ""), ("storageBarrier();", "workgroupBarrier();")] {
        let error = sum(first, each).unwrap_err();
        // Depending on the order, the other invocation has written the word or not.
        let is_found = matches!(&error, Error::Race { variable, .. } | Error::Uninitialized { variable, .. } if variable == "sums");
        assert!(is_found, "{error}");
    }
}

#[test]
fn buffer_race_is_found_within_and_between_workgroups() {
    let wgsl = "
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x / N] = 1u; }";
    let run = |n: &str| {
        let mut bindings = [vec![0; 8]];
        Kernel::new(&wgsl.replace('N', n), Arithmetic::PLAIN).unwrap().run(&mut bindings, [2, 1, 1], 1)
    };
    assert_eq!(run("1u"), Ok(()));
    for n in ["2u", "8u"] {
        assert!(matches!(run(n), Err(Error::Race { first: Use::Write, second: Use::Write, line: 3, .. })), "{n}");
    }
}

#[test]
fn divergent_barrier_is_found() {
    for each in ["if local < 4u { workgroupBarrier(); }", "if local == 7u { return; } workgroupBarrier();"] {
        assert!(matches!(sum("workgroupBarrier();", each), Err(Error::Divergence { line: 18 })), "{each}");
    }
}

#[test]
fn errors_name_their_line() {
    let error = |body: &str| one_each(body, Arithmetic::PLAIN, &[7; 4]).unwrap_err().to_string();
    assert_eq!(error("var a = array<u32, 3>(1u, 2u, 3u);\n return a[x];"), "line 10: index 7 of 3");
    assert_eq!(error("while true { if x == 0u { break; } }\n return 1u;"), "line 9: an invocation does not end");
    assert_eq!(error("return u32(cosh(f32(x)));"), "line 9: Cosh is not supported by this interpreter");
    assert!(error("return x + 1.5;").starts_with("the WGSL is not valid: "));
    let bindings = Kernel::new(SUM.split("FIRST").next().unwrap(), Arithmetic::PLAIN);
    assert!(bindings.is_err());
}

#[test]
fn missing_and_short_bindings_are_refused() {
    let wgsl = "struct P { n: u32, scale: f32 } @group(0) @binding(0) var<uniform> p: P;
        @compute @workgroup_size(1) fn main() { let n = p.n; }";
    let kernel = Kernel::new(wgsl, Arithmetic::PLAIN).unwrap();
    assert!(matches!(kernel.run(&mut [vec![0]], [1, 1, 1], 1), Err(Error::Dispatch(_))));
    assert_eq!(kernel.members(0, &[("scale", 9)]), Ok(vec![0, 9]));
    assert!(kernel.members(0, &[("size", 9)]).is_err() && kernel.members(1, &[]).is_err());
}

#[test]
fn values_match_wgsl() {
    let x: Vec<u32> = vec![0, 3, 10, 0x8000_0001];
    let check = |body: &str, y: fn(u32) -> u32| {
        let expected: Vec<u32> = x.iter().map(|&x| y(x)).collect();
        assert_eq!(one_each(body, Arithmetic::PLAIN, &x).unwrap(), expected, "{body}");
    };
    check("return select(x, 5u, x > 3u) ^ 1u;", |x| if x > 3 { 4 } else { x ^ 1 });
    check("return (x << 31u) | (x >> 1u);", |x| x.rotate_right(1));
    check("return bitcast<u32>(bitcast<i32>(x) >> 4u);", |x| (x.cast_signed() >> 4).cast_unsigned());
    check("return x / (x - x) + x % 3u;", |x| x + x % 3);
    check("let p = pair(x); return p.number + u32(p.is_even) + u32(p.rest.y * 2.0);", |x| x + if x % 2 == 0 { 2 } else { 5 });
    check("let v = vec4<u32>(x, 1u, vec2(2u)); return v[x % 4u] + v.zwx.y;", |x| [x, 1, 2, 2][x as usize % 4] + 2);
    check("table[x % 3u].y = f32(x % 7u); table[0].x += 2.0; return u32(table[x % 3u].y + table[0].x);", |x| x % 7 + 2);
    check("var n = 0u; loop { if n > x % 5u { break; } n += 2u; continuing { n += 1u; } } return n;", |x| {
        (0..).map(|i| 3 * i).find(|n| *n > x % 5).unwrap()
    });
    check("for (var i = 0u; i < 9u; i++) { if i % 2u == 0u { continue; } if i > x { return i; } } return 0u;", |x| {
        [1, 3, 5, 7].into_iter().find(|i| *i > x).unwrap_or(0)
    });
    check("return bitcast<u32>(dot(vec3(f32(x % 9u), 2.0, 3.0), vec3(1.0)));", |x| ((x % 9) as f32 + 5.0).to_bits());
    check("return u32(x > 3u && x < 11u) + u32(x == 0u || !(x > 2u));", |x| u32::from(x > 3 && x < 11) + u32::from(x < 3));
    check("return u32(-1.5) + u32(max(-f32(x % 9u), -2.0) + 2.5);", |x| {
        if x % 9 == 0 {
            2
        } else if x % 9 == 1 {
            1
        } else {
            0
        }
    });
}

#[test]
fn dependence_on_subnormal_numbers_is_visible() {
    let halves = [0x0001, 0x83ff, 0x3c00, 0x0400];
    let body = "return bitcast<u32>(unpack2x16float(x).x);";
    let decoded = |arithmetic| one_each(body, arithmetic, &halves).unwrap().into_iter().map(f32::from_bits).collect::<Vec<_>>();
    let flushes = Arithmetic { flushes_f16: true, ..Arithmetic::PLAIN };
    assert_eq!(decoded(Arithmetic::PLAIN), [5.960_464_5e-8, -6.097_555e-5, 1.0, 6.103_515_6e-5]);
    assert_eq!(decoded(flushes), [0.0, 0.0, 1.0, 6.103_515_6e-5]);
    let small = [1e-40_f32.to_bits(); 4];
    let body = "return bitcast<u32>(bitcast<f32>(x) * 1e10);";
    assert_ne!(one_each(body, Arithmetic::PLAIN, &small).unwrap(), [0; 4]);
    assert_eq!(one_each(body, Arithmetic { flushes_f32: true, ..Arithmetic::PLAIN }, &small).unwrap(), [0; 4]);
}

#[test]
fn products_are_fused_with_sums() {
    let x = (1.0 + f32::EPSILON).to_bits();
    let fuses = Arithmetic { fuses: true, ..Arithmetic::PLAIN };
    let value = |body: &str, arithmetic| f32::from_bits(one_each(body, arithmetic, &[x; 4]).unwrap()[0]);
    for (body, sign) in [
        ("let a = bitcast<f32>(x); return bitcast<u32>(a * a - 1.0);", 1.0),
        ("let a = bitcast<f32>(x); return bitcast<u32>(1.0 - a * a);", -1.0),
        ("let a = bitcast<f32>(x); var s = -1.0; s += a * a; return bitcast<u32>(s);", 1.0),
        ("let a = bitcast<f32>(x); return bitcast<u32>(fma(a, a, -1.0));", 1.0),
        ("let a = vec2(bitcast<f32>(x)); return bitcast<u32>((a * a.x - 1.0).y);", 1.0),
    ] {
        assert_eq!(value(body, Arithmetic::PLAIN), sign * 2.0 * f32::EPSILON, "{body}");
        assert_eq!(value(body, fuses), sign * (2.0 * f32::EPSILON + f32::EPSILON * f32::EPSILON), "{body}");
    }
}

#[test]
fn trace_has_every_binding_access() {
    let kernel = Kernel::new(&SUM.replace("FIRST", "workgroupBarrier();").replace("EACH", "workgroupBarrier();"), Arithmetic::PLAIN);
    let mut bindings = [vec![0; 16], vec![0; 2]];
    let accesses = kernel.unwrap().trace(&mut bindings, [2, 1, 1], 1).unwrap();
    let mut read: Vec<usize> = accesses.iter().filter(|access| !access.is_write).map(|access| access.word).collect();
    read.sort_unstable();
    assert_eq!(read, (0..16).collect::<Vec<_>>());
    let written: Vec<_> = accesses.iter().filter(|access| access.is_write).collect();
    assert!(written.len() == 2 && written.iter().all(|access| access.binding == 1 && access.lane == 0 && access.n == 1));
}

/// Counts the invocations with each number. `CLEARED` and `COUNTED` are placeholders for barriers.
const COUNT: &str = "
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> counts: array<atomic<u32>, 4>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < 4u { atomicStore(&counts[i], 0u); }
    CLEARED
    let before = atomicAdd(&counts[x[i]], 1u);
    COUNTED
    y[i] = atomicLoad(&counts[i % 4u]) + before / 8u;
}";

#[test]
fn atomic_additions_do_not_race() {
    let count = |cleared: &str, counted: &str| {
        let kernel = Kernel::new(&COUNT.replace("CLEARED", cleared).replace("COUNTED", counted), Arithmetic::PLAIN).unwrap();
        let mut bindings = [vec![3, 0, 1, 3, 3, 1, 0, 3], vec![0; 8]];
        kernel.run(&mut bindings, [1, 1, 1], 1).map(|()| bindings[1].clone())
    };
    assert_eq!(count("workgroupBarrier();", "workgroupBarrier();").unwrap(), [2, 2, 0, 4, 2, 2, 0, 4]);
    assert!(matches!(count("", "workgroupBarrier();"), Err(Error::Race { .. } | Error::Uninitialized { .. })));
    assert!(matches!(count("workgroupBarrier();", ""), Err(Error::Race { .. })));
}
