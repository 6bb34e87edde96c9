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
    (local.get $at))
  ;; The first index from $at on, below $end, of a quote that no backslash escapes; where to go on behind these bytes
  ;; when there is none: $end, or one more when the last of them is a backslash that escapes the next. Which bytes are
  ;; escaped is told for sixteen at once: in a row of backslashes every second one is.
  (func (export "close") (param $at i32) (param $end i32) (result i32)
    (local $bytes v128)
    (local $length i32)
    (local $quotes i32)
    (local $backslashes i32)
    (local $codes i32)
    ;; 1 when the first byte is escaped by the one before it.
    (local $escaped i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end))
        (then (return (i32.add (local.get $end) (local.get $escaped)))))
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $length (i32.sub (local.get $end) (local.get $at)))
      (if (i32.gt_u (local.get $length) (i32.const 16))
        (then (local.set $length (i32.const 16))))
      (local.set $quotes
        (i32.and
          (i8x16.bitmask (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22))))
          (i32.sub (i32.shl (i32.const 1) (local.get $length)) (i32.const 1))))
      (local.set $backslashes (i8x16.bitmask (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))
      (if (local.get $backslashes)
        (then
          ;; A subtraction carries from the first backslash of each row to the byte behind the row; odd bits tell
          ;; which of them are the first, third, fifth.
          (local.set $codes
            (i32.and (local.get $backslashes) (i32.xor (local.get $escaped) (i32.const -1))))
          (local.set $codes
            (i32.xor
              (i32.sub
                (i32.or (i32.shl (local.get $codes) (i32.const 1)) (i32.const 0xaaaaaaaa))
                (local.get $codes))
              (i32.const 0xaaaaaaaa)))
          (local.set $quotes
            (i32.and
              (local.get $quotes)
              (i32.xor
                (i32.xor (local.get $codes) (i32.or (local.get $backslashes) (local.get $escaped)))
                (i32.const -1))))
          (local.set $escaped
            (i32.and
              (i32.shr_u
                (i32.and (local.get $codes) (local.get $backslashes))
                (i32.sub (local.get $length) (i32.const 1)))
              (i32.const 1))))
        (else
          (local.set $quotes
            (i32.and (local.get $quotes) (i32.xor (local.get $escaped) (i32.const -1))))
          (local.set $escaped (i32.const 0))))
      (if (local.get $quotes)
        (then (return (i32.add (local.get $at) (i32.ctz (local.get $quotes))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next))
    (unreachable)))
