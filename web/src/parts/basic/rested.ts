import { useEffect, useState } from "react";

/** The pause in typing after which the gateway is asked about the text. */
const restMs = 250;

/** The value as it was when it last stayed the same for a moment, so that not every letter makes a request. */
export function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
