/** One line of the doctor: whether something is as it should be, and what to do where it is not. */
export interface Finding {
  readonly kind: "ok" | "warn" | "fail";
  readonly what: string;
  /** Null where there is nothing to do. */
  readonly todo: string | null;
  /** The file and the key in it, or the variable, where that can be said. */
  readonly where?: string;
}

/** All is well with it. */
export function fine(what: string): Finding {
  return { kind: "ok", what, todo: null };
}

/** It works, but should be otherwise. */
export function doubtful(what: string, todo: string): Finding {
  return { kind: "warn", what, todo };
}

/** It does not work. */
export function broken(what: string, todo: string): Finding {
  return { kind: "fail", what, todo };
}
