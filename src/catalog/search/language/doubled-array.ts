/** The same content in an array twice as long. */
export function grown<Numbers extends Int32Array | Uint8Array>(numbers: Numbers): Numbers {
  const longer = new (numbers.constructor as new (length: number) => Numbers)(numbers.length * 2);
  longer.set(numbers);
  return longer;
}
