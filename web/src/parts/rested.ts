import { useEffect, useState } from "react";

/** For how long nobody has to type before the gateway is asked about what stands there. */
const restMs = 250;

/** The value as it was when it last stayed the same for a moment: nobody is asked about every letter. */
export function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
