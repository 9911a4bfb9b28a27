;; Dot products of each row of x with each row of w: out[i][j] = sum over k of x[i][k] w[j][k].
;; x: f32 [n, columns], out: f32 [n, rows], at addresses in the engine's memory. Each function takes the address of its arguments
;; (fused.rs). `product` multiplies decoded rows of w. `vector` and `blocks` multiply packed ones: `blocks` as they are in the file,
;; and `vector` with scales, and for some types integers, that the engine has unpacked.
(module
  (import "engine" "memory" (memory 1))
  (import "engine" "table" (table 1 funcref))
  (type $read (func (param i32 i32)))
  ;; Several rows of x, and at least 4 rows of w, as f32 at $panel. Columns are a multiple of 4. Rows of out are $out_bytes apart. Four
  ;; rows of w stay in the cache and are multiplied with all of x, two rows at a time, because that fills the registers of 128-bit SIMD.
  ;; The last tiles overlap the previous ones, or use the last row of x twice. They write the same values again.
  (func (export "product") (param $p i32)
    (local $x i32) (local $n i32) (local $columns i32) (local $rows i32) (local $out i32)
    (local $i i32) (local $next i32) (local $j i32) (local $k i32) (local $row_bytes i32) (local $out_bytes i32)
    (local $x0 i32) (local $x1 i32) (local $w0 i32) (local $w1 i32) (local $w2 i32) (local $w3 i32)
    (local $a v128) (local $b v128) (local $c v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $x (i32.load (local.get $p)))
    (local.set $n (i32.load offset=4 (local.get $p)))
    (local.set $columns (i32.load offset=8 (local.get $p)))
    (local.set $rows (i32.load offset=12 (local.get $p)))
    (local.set $out (i32.load offset=16 (local.get $p)))
    (local.set $row_bytes (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $out_bytes (i32.load offset=48 (local.get $p)))
    (loop $each_w
      (local.set $w0 (i32.add (i32.load offset=32 (local.get $p)) (i32.mul (local.get $j) (local.get $row_bytes))))
      (local.set $w1 (i32.add (local.get $w0) (local.get $row_bytes)))
      (local.set $w2 (i32.add (local.get $w1) (local.get $row_bytes)))
      (local.set $w3 (i32.add (local.get $w2) (local.get $row_bytes)))
      (local.set $i (i32.const 0))
      (loop $each_x
        (local.set $next (i32.add (local.get $i) (i32.lt_u (i32.add (local.get $i) (i32.const 1)) (local.get $n))))
        (local.set $x0 (i32.add (local.get $x) (i32.mul (local.get $i) (local.get $row_bytes))))
        (local.set $x1 (i32.add (local.get $x) (i32.mul (local.get $next) (local.get $row_bytes))))
        (local.set $a0 (local.tee $a1 (local.tee $a2 (local.tee $a3 (v128.const i32x4 0 0 0 0)))))
        (local.set $b0 (local.tee $b1 (local.tee $b2 (local.tee $b3 (v128.const i32x4 0 0 0 0)))))
        (local.set $k (i32.const 0))
        (loop $each_four
          (local.set $a (v128.load (i32.add (local.get $x0) (local.get $k))))
          (local.set $b (v128.load (i32.add (local.get $x1) (local.get $k))))
          (local.set $c (v128.load (i32.add (local.get $w0) (local.get $k))))
          (local.set $a0 (f32x4.relaxed_madd (local.get $a) (local.get $c) (local.get $a0)))
          (local.set $b0 (f32x4.relaxed_madd (local.get $b) (local.get $c) (local.get $b0)))
          (local.set $c (v128.load (i32.add (local.get $w1) (local.get $k))))
          (local.set $a1 (f32x4.relaxed_madd (local.get $a) (local.get $c) (local.get $a1)))
          (local.set $b1 (f32x4.relaxed_madd (local.get $b) (local.get $c) (local.get $b1)))
          (local.set $c (v128.load (i32.add (local.get $w2) (local.get $k))))
          (local.set $a2 (f32x4.relaxed_madd (local.get $a) (local.get $c) (local.get $a2)))
          (local.set $b2 (f32x4.relaxed_madd (local.get $b) (local.get $c) (local.get $b2)))
          (local.set $c (v128.load (i32.add (local.get $w3) (local.get $k))))
          (local.set $a3 (f32x4.relaxed_madd (local.get $a) (local.get $c) (local.get $a3)))
          (local.set $b3 (f32x4.relaxed_madd (local.get $b) (local.get $c) (local.get $b3)))
          (br_if $each_four (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $row_bytes))))
        (v128.store
          (call $place (local.get $out) (local.get $i) (local.get $out_bytes) (local.get $j))
          (call $sums (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3)))
        (v128.store
          (call $place (local.get $out) (local.get $next) (local.get $out_bytes) (local.get $j))
          (call $sums (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3)))
        (br_if $each_x (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 2))) (local.get $n))))
      (br_if $each_w (i32.lt_u (local.tee $j (call $after (local.get $j) (local.get $rows))) (local.get $rows)))))

  ;; values[i][k] = scale[i][k/16] quant[i][k] - minimum[i][k/16], as f32. Columns are a multiple of 16. Integers are bytes. Scales and
  ;; minima of each row are padded with zeros to a multiple of 4.
  (func (export "expand") (param $p i32)
    (local $q i32) (local $s i32) (local $m i32) (local $rows i32) (local $columns i32) (local $values i32) (local $stride i32)
    (local $k i32) (local $end i32) (local $scale v128) (local $minimum v128) (local $a v128) (local $b v128)
    (local.set $q (i32.load (local.get $p)))
    (local.set $s (i32.load offset=4 (local.get $p)))
    (local.set $m (i32.load offset=8 (local.get $p)))
    (local.set $rows (i32.load offset=12 (local.get $p)))
    (local.set $columns (i32.load offset=16 (local.get $p)))
    (local.set $values (i32.load offset=20 (local.get $p)))
    (local.set $stride (i32.shl (i32.shr_u (i32.add (local.get $columns) (i32.const 63)) (i32.const 6)) (i32.const 4)))
    (loop $each_row
      (local.set $k (i32.const 0))
      (local.set $end (i32.add (local.get $q) (local.get $columns)))
      (loop $each_group
        (local.set $scale (v128.load32_splat (i32.add (local.get $s) (local.get $k))))
        (local.set $minimum (v128.load32_splat (i32.add (local.get $m) (local.get $k))))
        (local.set $a (v128.load8x8_s (local.get $q)))
        (local.set $b (v128.load8x8_s offset=8 (local.get $q)))
        (v128.store (local.get $values) (f32x4.sub
          (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $a)))) (local.get $minimum)))
        (v128.store offset=16 (local.get $values) (f32x4.sub
          (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $a)))) (local.get $minimum)))
        (v128.store offset=32 (local.get $values) (f32x4.sub
          (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $b)))) (local.get $minimum)))
        (v128.store offset=48 (local.get $values) (f32x4.sub
          (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $b)))) (local.get $minimum)))
        (local.set $values (i32.add (local.get $values) (i32.const 64)))
        (local.set $k (i32.add (local.get $k) (i32.const 4)))
        (br_if $each_group (i32.lt_u (local.tee $q (i32.add (local.get $q) (i32.const 16))) (local.get $end))))
      (local.set $s (i32.add (local.get $s) (local.get $stride)))
      (local.set $m (i32.add (local.get $m) (local.get $stride)))
      (br_if $each_row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; One row of x: out[j] = sum over k of x[k] (scale[j][k/16] (quant[j][k] - $zero) - minimum[j][k/16]). Columns are a multiple of 32.
  ;; The engine's function $read takes $weight and a row. It writes scales and minima of $tile rows of w from this row on, or of the
  ;; remaining ones. If $bits is 0, it also writes their integers, as bytes. Otherwise $w has blocks of 256 values as in the file, with 4,
  ;; 5 or 6 bits (`BlockOf256` in the engine). $sums are the negated sums of each 16 values of x. Scales, minima and sums of each row are
  ;; padded with zeros to a multiple of 4. A word contains four integers. The highest byte of a word is converted to f32 as 2^24 times
  ;; the integer. So x is scaled by 2^-24, and x[16 i + 4 j + k] is at 16 i + j + 4 k.
  (func (export "vector") (param $p i32)
    (local $x i32) (local $columns i32) (local $rows i32) (local $out i32) (local $tile i32) (local $sums i32)
    (local $j i32) (local $end i32) (local $k i32) (local $q i32) (local $s i32) (local $m i32) (local $stride i32)
    (local $x_end i32) (local $at i32)
    (local $w i32) (local $block i32) (local $bits i32) (local $lower_at i32) (local $upper_at i32) (local $group i32)
    (local $lower i32) (local $upper i32) (local $lower_shift i32) (local $upper_shift i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $e v128) (local $mask v128)
    (local $zero v128) (local $four v128) (local $upper_mask v128)
    (local.set $x (i32.load (local.get $p)))
    (local.set $columns (i32.load offset=8 (local.get $p)))
    (local.set $rows (i32.load offset=12 (local.get $p)))
    (local.set $out (i32.load offset=16 (local.get $p)))
    (local.set $tile (i32.load offset=28 (local.get $p)))
    (local.set $sums (i32.load offset=44 (local.get $p)))
    (local.set $w (i32.load offset=52 (local.get $p)))
    (local.set $block (i32.load offset=56 (local.get $p)))
    (local.set $bits (i32.load offset=60 (local.get $p)))
    (local.set $lower_at (i32.load offset=64 (local.get $p)))
    (local.set $upper_at (i32.load offset=68 (local.get $p)))
    (local.set $zero (v128.load8_splat offset=72 (local.get $p)))
    (local.set $four (v128.const i32x4 0x0F0F0F0F 0x0F0F0F0F 0x0F0F0F0F 0x0F0F0F0F))
    (local.set $upper_mask (i8x16.splat (select (i32.const 3) (i32.const 1) (i32.eq (local.get $bits) (i32.const 6)))))
    (local.set $mask (v128.const i32x4 0xFF000000 0xFF000000 0xFF000000 0xFF000000))
    (local.set $stride (i32.shl (i32.shr_u (i32.add (local.get $columns) (i32.const 63)) (i32.const 6)) (i32.const 4)))
    (local.set $x_end (i32.add (local.get $x) (i32.shl (local.get $columns) (i32.const 2))))
    (local.set $end (local.get $tile))
    (loop $each_tile
      (call $rows_from (local.get $p) (local.get $j))
      (local.set $q (i32.load offset=32 (local.get $p)))
      (local.set $s (i32.load offset=36 (local.get $p)))
      (local.set $m (i32.load offset=40 (local.get $p)))
      (if (i32.gt_u (local.get $end) (local.get $rows)) (then (local.set $end (local.get $rows))))
      (loop $each_row
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $k (i32.const 0))
        (loop $each_four
          (local.set $a (f32x4.relaxed_madd
            (v128.load (i32.add (local.get $sums) (local.get $k))) (v128.load (i32.add (local.get $m) (local.get $k))) (local.get $a)))
          (br_if $each_four (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $stride))))
        (local.set $m (i32.add (local.get $m) (local.get $stride)))
        (local.set $at (local.get $x))
        (local.set $k (local.get $s))
        (local.set $d (v128.const i32x4 0 0 0 0))
        (loop $each_group
          (if (local.get $bits)
            (then
              (if (i32.eq (local.get $bits) (i32.const 6))
                (then
                  (local.set $lower (i32.add
                    (i32.shl (i32.and (local.get $group) (i32.const 4)) (i32.const 4))
                    (i32.shl (i32.and (local.get $group) (i32.const 1)) (i32.const 5))))
                  (local.set $lower_shift (i32.shl (i32.and (local.get $group) (i32.const 2)) (i32.const 1)))
                  (local.set $upper (i32.shl (i32.and (local.get $group) (i32.const 4)) (i32.const 3)))
                  (local.set $upper_shift (i32.shl (i32.and (local.get $group) (i32.const 3)) (i32.const 1))))
                (else
                  (local.set $lower (i32.shl (i32.and (local.get $group) (i32.const 6)) (i32.const 4)))
                  (local.set $lower_shift (i32.shl (i32.and (local.get $group) (i32.const 1)) (i32.const 2)))
                  (local.set $upper (i32.const 0))
                  (local.set $upper_shift (local.get $group))))
              (local.set $lower (i32.add (i32.add (local.get $w) (local.get $lower_at)) (local.get $lower)))
              (local.set $c (v128.and (local.get $four)
                (i16x8.shr_u (v128.load (local.get $lower)) (local.get $lower_shift))))
              (local.set $e (v128.and (local.get $four)
                (i16x8.shr_u (v128.load offset=16 (local.get $lower)) (local.get $lower_shift))))
              (if (i32.gt_u (local.get $bits) (i32.const 4)) (then
                (local.set $upper (i32.add (i32.add (local.get $w) (local.get $upper_at)) (local.get $upper)))
                (local.set $c (v128.or (local.get $c) (i16x8.shl (v128.and (local.get $upper_mask)
                  (i16x8.shr_u (v128.load (local.get $upper)) (local.get $upper_shift))) (i32.const 4))))
                (local.set $e (v128.or (local.get $e) (i16x8.shl (v128.and (local.get $upper_mask)
                  (i16x8.shr_u (v128.load offset=16 (local.get $upper)) (local.get $upper_shift))) (i32.const 4))))))
              (local.set $c (i8x16.sub (local.get $c) (local.get $zero)))
              (local.set $e (i8x16.sub (local.get $e) (local.get $zero)))
              (local.set $group (i32.and (i32.add (local.get $group) (i32.const 1)) (i32.const 7)))
              (if (i32.eqz (local.get $group)) (then (local.set $w (i32.add (local.get $w) (local.get $block))))))
            (else
              (local.set $c (v128.load (local.get $q)))
              (local.set $e (v128.load offset=16 (local.get $q)))
              (local.set $q (i32.add (local.get $q) (i32.const 32)))))
          (local.set $b (f32x4.mul
            (v128.load (local.get $at)) (f32x4.convert_i32x4_s (i32x4.shl (local.get $c) (i32.const 24)))))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=16 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $c) (i32.const 16)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=32 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $c) (i32.const 8)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=48 (local.get $at)) (f32x4.convert_i32x4_s (v128.and (local.get $c) (local.get $mask))) (local.get $b)))
          (local.set $a (f32x4.relaxed_madd (local.get $b) (v128.load32_splat (local.get $k)) (local.get $a)))
          (local.set $b (f32x4.mul
            (v128.load offset=64 (local.get $at)) (f32x4.convert_i32x4_s (i32x4.shl (local.get $e) (i32.const 24)))))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=80 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $e) (i32.const 16)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=96 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $e) (i32.const 8)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=112 (local.get $at)) (f32x4.convert_i32x4_s (v128.and (local.get $e) (local.get $mask))) (local.get $b)))
          (local.set $d (f32x4.relaxed_madd (local.get $b) (v128.load32_splat offset=4 (local.get $k)) (local.get $d)))
          (local.set $k (i32.add (local.get $k) (i32.const 8)))
          (br_if $each_group (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 128))) (local.get $x_end))))
        (local.set $a (f32x4.add (local.get $a) (local.get $d)))
        (local.set $s (i32.add (local.get $s) (local.get $stride)))
        (local.set $a (call $halves (local.get $a) (local.get $a)))
        (f32.store (local.get $out) (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 2 (local.get $a))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br_if $each_row (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 1))) (local.get $end))))
      (local.set $end (i32.add (local.get $end) (local.get $tile)))
      (br_if $each_tile (i32.lt_u (local.get $j) (local.get $rows)))))

  ;; One row of x: out[j] = sum over blocks k of scale[j][k] (x[k] . (quant[j][k] - $zero)) + minimum[j][k] (sum of x[k]). w has blocks
  ;; of 32 values as in the file: the scale as f16; the minimum as f16 if $has_minimum; 4 bytes with the fifth bits if $bits is 5; and at
  ;; $quants, 32 bytes if $bits is 8, or 16 bytes: byte i has four bits of value i in its lower half, and of value i + 16 in its upper
  ;; half. The layout of x is that of `vector`. $sums are the sums of each 32 values of x. $scales and $minima have room for $tile rows.
  (func (export "blocks") (param $p i32)
    (local $x i32) (local $rows i32) (local $out i32) (local $w i32) (local $block i32) (local $quants i32) (local $bits i32)
    (local $zero v128) (local $has_minimum i32) (local $tile i32) (local $per_row i32)
    (local $n i32) (local $count i32) (local $q i32) (local $s i32) (local $m i32) (local $at i32) (local $x_end i32) (local $sum i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $e v128)
    (local $mask v128) (local $four v128) (local $fifth v128) (local $bit v128)
    (local.set $x (i32.load (local.get $p)))
    (local.set $per_row (i32.load offset=4 (local.get $p)))
    (local.set $rows (i32.load offset=8 (local.get $p)))
    (local.set $out (i32.load offset=12 (local.get $p)))
    (local.set $w (i32.load offset=16 (local.get $p)))
    (local.set $block (i32.load offset=20 (local.get $p)))
    (local.set $quants (i32.load offset=24 (local.get $p)))
    (local.set $bits (i32.load offset=28 (local.get $p)))
    (local.set $zero (v128.load8_splat offset=32 (local.get $p)))
    (local.set $has_minimum (i32.load offset=36 (local.get $p)))
    (local.set $tile (i32.load offset=40 (local.get $p)))
    (local.set $mask (v128.const i32x4 0xFF000000 0xFF000000 0xFF000000 0xFF000000))
    (local.set $four (v128.const i32x4 0x0F0F0F0F 0x0F0F0F0F 0x0F0F0F0F 0x0F0F0F0F))
    (local.set $fifth (v128.const i32x4 0x10101010 0x10101010 0x10101010 0x10101010))
    (local.set $bit (v128.const i8x16 1 2 4 8 16 32 64 -128 1 2 4 8 16 32 64 -128))
    (local.set $x_end (i32.add (local.get $x) (i32.shl (local.get $per_row) (i32.const 7))))
    (loop $each_tile
      (local.set $n (select (local.get $tile) (local.get $rows) (i32.lt_u (local.get $tile) (local.get $rows))))
      (local.set $rows (i32.sub (local.get $rows) (local.get $n)))
      (local.set $count (i32.mul (local.get $n) (local.get $per_row)))
      (local.set $s (i32.load offset=44 (local.get $p)))
      (call $f32s_of_f16s (local.get $w) (local.get $block) (local.get $s) (local.get $count))
      (local.set $m (i32.load offset=48 (local.get $p)))
      (if (local.get $has_minimum) (then
        (call $f32s_of_f16s (i32.add (local.get $w) (i32.const 2)) (local.get $block) (local.get $m) (local.get $count))))
      (local.set $q (i32.add (local.get $w) (local.get $quants)))
      (local.set $w (i32.add (local.get $w) (i32.mul (local.get $count) (local.get $block))))
      (loop $each_row
        (local.set $a (local.tee $d (v128.const i32x4 0 0 0 0)))
        (local.set $at (local.get $x))
        (local.set $sum (i32.load offset=52 (local.get $p)))
        (loop $each_block
          (local.set $c (v128.load (local.get $q)))
          (if (i32.eq (local.get $bits) (i32.const 8))
            (then (local.set $e (v128.load offset=16 (local.get $q))))
            (else
              (local.set $e (v128.and (i16x8.shr_u (local.get $c) (i32.const 4)) (local.get $four)))
              (local.set $c (v128.and (local.get $c) (local.get $four)))
              (if (i32.eq (local.get $bits) (i32.const 5)) (then
                (local.set $b (v128.load32_splat (i32.sub (local.get $q) (i32.const 4))))
                (local.set $c (v128.or (local.get $c) (v128.and (local.get $fifth) (i8x16.eq (local.get $bit) (v128.and (local.get $bit)
                  (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $b) (local.get $b)))))))
                (local.set $e (v128.or (local.get $e) (v128.and (local.get $fifth) (i8x16.eq (local.get $bit) (v128.and (local.get $bit)
                  (i8x16.shuffle 2 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3 (local.get $b) (local.get $b)))))))))
              (local.set $c (i8x16.sub (local.get $c) (local.get $zero)))
              (local.set $e (i8x16.sub (local.get $e) (local.get $zero)))))
          (local.set $b (f32x4.mul
            (v128.load (local.get $at)) (f32x4.convert_i32x4_s (i32x4.shl (local.get $c) (i32.const 24)))))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=16 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $c) (i32.const 16)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=32 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $c) (i32.const 8)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=48 (local.get $at)) (f32x4.convert_i32x4_s (v128.and (local.get $c) (local.get $mask))) (local.get $b)))
          (local.set $c (v128.load32_splat (local.get $s)))
          (local.set $a (f32x4.relaxed_madd (local.get $b) (local.get $c) (local.get $a)))
          (local.set $b (f32x4.mul
            (v128.load offset=64 (local.get $at)) (f32x4.convert_i32x4_s (i32x4.shl (local.get $e) (i32.const 24)))))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=80 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $e) (i32.const 16)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=96 (local.get $at))
            (f32x4.convert_i32x4_s (v128.and (i32x4.shl (local.get $e) (i32.const 8)) (local.get $mask))) (local.get $b)))
          (local.set $b (f32x4.relaxed_madd
            (v128.load offset=112 (local.get $at)) (f32x4.convert_i32x4_s (v128.and (local.get $e) (local.get $mask))) (local.get $b)))
          (local.set $d (f32x4.relaxed_madd (local.get $b) (local.get $c) (local.get $d)))
          (if (local.get $has_minimum) (then
            (local.set $a (f32x4.relaxed_madd
              (v128.load32_zero (local.get $m)) (v128.load32_zero (local.get $sum)) (local.get $a)))
            (local.set $m (i32.add (local.get $m) (i32.const 4)))
            (local.set $sum (i32.add (local.get $sum) (i32.const 4)))))
          (local.set $s (i32.add (local.get $s) (i32.const 4)))
          (local.set $q (i32.add (local.get $q) (local.get $block)))
          (br_if $each_block (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 128))) (local.get $x_end))))
        (local.set $a (f32x4.add (local.get $a) (local.get $d)))
        (local.set $a (call $halves (local.get $a) (local.get $a)))
        (f32.store (local.get $out) (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 2 (local.get $a))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br_if $each_row (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
      (br_if $each_tile (local.get $rows))))

  ;; Converts $count f16 values to f32, four at a time. They are $step bytes apart, from $from on.
  (func $f32s_of_f16s (param $from i32) (param $step i32) (param $to i32) (param $count i32)
    (local $end i32) (local $a v128)
    (local.set $end (i32.add (local.get $to) (i32.shl (i32.and (local.get $count) (i32.const -4)) (i32.const 2))))
    (block $no_fours
      (br_if $no_fours (i32.eq (local.get $to) (local.get $end)))
      (loop $each_four
        (local.set $a (v128.load16_lane 1 (local.get $from) (v128.const i32x4 0 0 0 0)))
        (local.set $from (i32.add (local.get $from) (local.get $step)))
        (local.set $a (v128.load16_lane 3 (local.get $from) (local.get $a)))
        (local.set $from (i32.add (local.get $from) (local.get $step)))
        (local.set $a (v128.load16_lane 5 (local.get $from) (local.get $a)))
        (local.set $from (i32.add (local.get $from) (local.get $step)))
        (v128.store (local.get $to) (call $f32s_of_words (v128.load16_lane 7 (local.get $from) (local.get $a))))
        (local.set $from (i32.add (local.get $from) (local.get $step)))
        (br_if $each_four (i32.lt_u (local.tee $to (i32.add (local.get $to) (i32.const 16))) (local.get $end)))))
    (local.set $end (i32.add (local.get $end) (i32.shl (i32.and (local.get $count) (i32.const 3)) (i32.const 2))))
    (block $no_more
      (br_if $no_more (i32.eq (local.get $to) (local.get $end)))
      (loop $each
        (v128.store32_lane 0 (local.get $to)
          (call $f32s_of_words (v128.load16_lane 1 (local.get $from) (v128.const i32x4 0 0 0 0))))
        (local.set $from (i32.add (local.get $from) (local.get $step)))
        (br_if $each (i32.lt_u (local.tee $to (i32.add (local.get $to) (i32.const 4))) (local.get $end))))))

  ;; Converts four f16 values, each in the upper half of a word, to f32. Exact, but -0 becomes 0. Avoids subnormal f32, which are slow.
  (func $f32s_of_words (param $a v128) (result v128)
    (local $exponent v128) (local $b v128)
    ;; Sign, exponent and fraction where f32 has them; the exponent is still biased by 15.
    (local.set $a (v128.and (i32x4.shr_s (local.get $a) (i32.const 3)) (v128.const i32x4 0x8FFFE000 0x8FFFE000 0x8FFFE000 0x8FFFE000)))
    (local.set $exponent
      (v128.and (local.get $a) (v128.const i32x4 0x0F800000 0x0F800000 0x0F800000 0x0F800000)))
    (local.set $b (i32x4.add (local.get $a) (v128.const i32x4 0x38000000 0x38000000 0x38000000 0x38000000)))
    ;; Infinities and NaN have the highest exponent in both formats.
    (local.set $b (v128.or (local.get $b) (v128.and
      (i32x4.eq (local.get $exponent) (v128.const i32x4 0x0F800000 0x0F800000 0x0F800000 0x0F800000))
      (v128.const i32x4 0x7F800000 0x7F800000 0x7F800000 0x7F800000))))
    ;; A subnormal f16 became 2^-15 (1 + fraction), and is 2^-14 fraction.
    (v128.bitselect
      (f32x4.sub
        (f32x4.add (local.get $b) (local.get $b))
        (v128.or
          (v128.and (local.get $a) (v128.const i32x4 0x80000000 0x80000000 0x80000000 0x80000000))
          (v128.const i32x4 0x38800000 0x38800000 0x38800000 0x38800000)))
      (local.get $b)
      (i32x4.eq (local.get $exponent) (v128.const i32x4 0 0 0 0))))

  ;; Calls the engine to read rows of w, starting at row $j.
  (func $rows_from (param $p i32) (param $j i32)
    (call_indirect (type $read)
      (i32.load offset=20 (local.get $p)) (local.get $j) (i32.load offset=24 (local.get $p))))

  ;; First row of the next four; the number of rows at the end.
  (func $after (param $j i32) (param $rows i32) (result i32)
    (local $last i32)
    (local.set $last (i32.sub (local.get $rows) (i32.const 4)))
    (if (i32.eq (local.get $j) (local.get $last)) (then (return (local.get $rows))))
    (local.set $j (i32.add (local.get $j) (i32.const 4)))
    (select (local.get $j) (local.get $last) (i32.lt_u (local.get $j) (local.get $last))))

  ;; Address of out[i][j].
  (func $place (param $out i32) (param $i i32) (param $out_bytes i32) (param $j i32) (result i32)
    (i32.add (local.get $out) (i32.add (i32.mul (local.get $i) (local.get $out_bytes)) (i32.shl (local.get $j) (i32.const 2)))))

  ;; Sums of the lanes of each vector.
  (func $sums (param $s0 v128) (param $s1 v128) (param $s2 v128) (param $s3 v128) (result v128)
    (local.set $s0 (call $halves (local.get $s0) (local.get $s1)))
    (local.set $s2 (call $halves (local.get $s2) (local.get $s3)))
    (f32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $s0) (local.get $s2))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $s0) (local.get $s2))))

  ;; s[0] + s[2], t[0] + t[2], s[1] + s[3], t[1] + t[3].
  (func $halves (param $s v128) (param $t v128) (result v128)
    (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $s) (local.get $t))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $s) (local.get $t)))))
