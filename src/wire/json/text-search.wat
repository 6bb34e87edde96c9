;; Finds where a long JSON string needs to be looked at; see text-search.ts. Sixteen bytes at a time, which JavaScript
;; cannot do. The first 256 bytes of the memory are a table: 1 for each byte that may follow a backslash and takes no
;; further ones with it.
(module
  (memory (export "memory") 2)
  ;; The first index from $at on, below $end, of a quote, a control character, or a backslash with anything behind it
  ;; but a short escape; $end when there is none. May read 15 bytes beyond $end, and looks at nothing there.
  (func (export "find") (param $at i32) (param $end i32) (result i32)
    (local $bytes v128)
    (local $found i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end))
        (then (return (local.get $end))))
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $found
        (i8x16.bitmask
          (v128.or
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20)))
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next)))
      (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
      ;; What follows the last byte is not known.
      (if (i32.ge_u (i32.add (local.get $at) (i32.const 1)) (local.get $end))
        (then
          (return (select (local.get $at) (local.get $end) (i32.lt_u (local.get $at) (local.get $end))))))
      (if (i32.and
            (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x5c))
            (i32.load8_u (i32.load8_u offset=1 (local.get $at))))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 2)))
          (br $next))))
    (local.get $at)))
