;; Dot products of each row of x with each row of w: out[i][j] = sum over k of x[i][k] w[j][k].
;; x: f32 [n, columns], w: f32 [rows, columns], out: f32 [n, rows], at addresses in the engine's memory; at least 4 rows,
;; columns a multiple of 4. Two rows of x by four of w at a time, which is what the registers of 128-bit SIMD hold. The last
;; tiles overlap those before them, or take the last row of x twice: they write the same values once more.
(module
  (import "engine" "memory" (memory 1))
  (func (export "product")
    (param $x i32) (param $n i32) (param $w i32) (param $rows i32) (param $columns i32) (param $out i32)
    (local $i i32) (local $next i32) (local $j i32) (local $k i32) (local $row_bytes i32) (local $out_bytes i32)
    (local $x0 i32) (local $x1 i32) (local $w0 i32) (local $w1 i32) (local $w2 i32) (local $w3 i32)
    (local $a v128) (local $b v128) (local $c v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $row_bytes (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $out_bytes (i32.shl (local.get $rows) (i32.const 2)))
    (loop $each_w
      (local.set $i (i32.const 0))
      (loop $each_x
        (local.set $next (i32.add (local.get $i) (i32.lt_u (i32.add (local.get $i) (i32.const 1)) (local.get $n))))
        (local.set $x0 (i32.add (local.get $x) (i32.mul (local.get $i) (local.get $row_bytes))))
        (local.set $x1 (i32.add (local.get $x) (i32.mul (local.get $next) (local.get $row_bytes))))
        (local.set $w0 (i32.add (local.get $w) (i32.mul (local.get $j) (local.get $row_bytes))))
        (local.set $w1 (i32.add (local.get $w0) (local.get $row_bytes)))
        (local.set $w2 (i32.add (local.get $w1) (local.get $row_bytes)))
        (local.set $w3 (i32.add (local.get $w2) (local.get $row_bytes)))
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

  ;; The first row of the next four; the number of rows where there is none.
  (func $after (param $j i32) (param $rows i32) (result i32)
    (local $last i32)
    (local.set $last (i32.sub (local.get $rows) (i32.const 4)))
    (if (i32.eq (local.get $j) (local.get $last)) (then (return (local.get $rows))))
    (local.set $j (i32.add (local.get $j) (i32.const 4)))
    (select (local.get $j) (local.get $last) (i32.lt_u (local.get $j) (local.get $last))))

  ;; The address of out[i][j].
  (func $place (param $out i32) (param $i i32) (param $out_bytes i32) (param $j i32) (result i32)
    (i32.add (local.get $out) (i32.add (i32.mul (local.get $i) (local.get $out_bytes)) (i32.shl (local.get $j) (i32.const 2)))))

  ;; The sums of the lanes of each.
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
